// Feeds the interface `example`, without a library, with what os.Hostname() costs: go run feeder.go
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"
)

func main() {
	path, own := os.Getenv("TALLY_SOCKET"), os.Getenv("XDG_RUNTIME_DIR")+"/tallyfs/socket"
	if _, err := os.Stat(own); path == "" && err == nil && os.Geteuid() != 0 {
		path = own // a daemon of this user
	} else if path == "" {
		path = "/run/tallyfs/socket"
	}
	socket, err := net.Dial("unixgram", path)
	if err != nil {
		log.Fatal(err)
	}
	// What is there already stays as its users have defined it.
	fmt.Fprintln(socket, "create example/latency_ns type=range on=1 units=nanoseconds/calls")
	for batch := 0; batch < 10; batch++ {
		var lines strings.Builder
		for call := 0; call < 100; call++ {
			begun := time.Now()
			os.Hostname()
			fmt.Fprintf(&lines, "example/latency_ns %d\n", time.Since(begun).Nanoseconds())
		}
		socket.SetWriteDeadline(time.Now().Add(time.Second)) // the queue of a busy daemon is full
		if _, err := socket.Write([]byte(lines.String())); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("1000 samples are in statistics/example/data")
}
