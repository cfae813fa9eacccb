# ruby-statsd: UDP; `::` in names becomes `.`.
require 'statsd'

client = Statsd.new(ARGV[0], ARGV[1].to_i)
client.namespace = 'ruby'
200.times { client.increment('hits') }
client.gauge('Some::Level', 42.5)
3.times { client.timing('wait', 320) }
client.set('users', 'joe')
client.batch { |batch| 200.times { batch.increment('piped') } }
