# python3-statsd: by UDP, by TCP, and by a Unix stream, which it frames by lines.
import importlib
import sys

statsd = importlib.import_module("statsd")  # Debian's, of no use to the others

TIMES = 200


def send(client):
    for _ in range(TIMES):
        client.incr("hits")
    client.decr("hits", 10)
    client.incr("sampled", 5, rate=0.999999999)  # the client leaves out a sample in 10^9
    client.gauge("level", 42.5)
    client.gauge("level", -3, delta=True)
    client.gauge("below", -5)
    for _ in range(3):
        client.timing("wait", 320)
    client.set("users", "joe")
    with client.pipeline() as pipe:
        for _ in range(TIMES):
            pipe.incr("piped")
    client.close()


ip, udp, tcp, path = sys.argv[1:5]
send(statsd.StatsClient(ip, int(udp), prefix="ps_udp"))
send(statsd.TCPStatsClient(ip, int(tcp), prefix="ps_tcp"))
send(statsd.UnixSocketStatsClient(path, prefix="ps_unix"))
