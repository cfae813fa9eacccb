# libnet-statsd-perl: UDP.
use strict;
use warnings;
use Net::Statsd;

($Net::Statsd::HOST, $Net::Statsd::PORT) = @ARGV;
Net::Statsd::increment('perl.hits') for 1 .. 200;
Net::Statsd::gauge('perl.level' => 42.5);
Net::Statsd::timing('perl.wait', 320) for 1 .. 3;
