# python3-aiodogstatsd: UDP, with tags.
import asyncio
import importlib
import sys

aiodogstatsd = importlib.import_module("aiodogstatsd")  # Debian's, of no use to the others

TIMES = 200


async def send(ip, port):
    async with aiodogstatsd.Client(host=ip, port=port, namespace="aio",
                                   constant_tags={"env": "test"}) as client:
        for _ in range(TIMES):
            client.increment("hits", tags={"code": 200})
        client.gauge("level", value=42.5)
        for _ in range(3):
            client.timing("wait", value=320)
        client.histogram("size", value=0.25)
        client.distribution("spread", value=7)


asyncio.run(send(sys.argv[1], int(sys.argv[2])))
