package http3

import (
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/h3"
)

// relayPackets relays packets to a server on loopback until the test ends. change returns what is sent instead of a
// packet; one call of it is made at a time. It returns the address to send to.
func relayPackets(t *testing.T, server net.Addr, change func(p []byte, isToServer bool) [][]byte) (addr string) {
	t.Helper()
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	back := map[string]net.Conn{} // by the client's address
	t.Cleanup(func() {
		front.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range back {
			c.Close()
		}
	})
	returnPackets := func(from net.Conn, to *net.UDPAddr) {
		b := make([]byte, 1<<16)
		for {
			n, err := from.Read(b)
			if err != nil {
				return
			}
			mu.Lock()
			packets := change(b[:n], false)
			mu.Unlock()
			for _, p := range packets {
				_, _ = front.WriteToUDP(p, to)
			}
		}
	}
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, client, err := front.ReadFromUDP(b)
			if err != nil {
				return
			}
			mu.Lock()
			c := back[client.String()]
			if c == nil {
				if c, err = net.Dial("udp", server.String()); err == nil {
					back[client.String()] = c
					go returnPackets(c, client)
				}
			}
			packets := change(b[:n], true)
			mu.Unlock()
			for _, p := range packets {
				if err == nil {
					_, _ = c.Write(p)
				}
			}
		}
	}()
	return front.LocalAddr().String()
}

// lossyPath relays packets to a server and loses one in a hundred each way. It returns the address to send to, and
// how many it has lost.
func lossyPath(t *testing.T, server net.Addr) (addr string, lost func() int64) {
	t.Helper()
	var dropped atomic.Int64
	rng := rand.New(rand.NewPCG(1, 2))
	addr = relayPackets(t, server, func(p []byte, _ bool) [][]byte {
		if rng.IntN(100) > 0 {
			return [][]byte{p}
		}
		dropped.Add(1)
		return nil
	})
	return addr, dropped.Load
}

// A server that asks each client to prove its address (Retry), behind a path that loses
// packets both ways, answers all requests, large ones too.
func TestRetryAndLoss(t *testing.T) {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	server := &quic.Transport{Conn: socket, VerifySourceAddress: func(net.Addr) bool { return true }}
	l, err := server.Listen(tlsConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Close()
		socket.Close()
	})
	answer := fineAnswer + string(h3.AppendFrame(nil, h3.Data, []byte(strings.Repeat("x", 20_000))))
	go acceptAll(l, func(c *quic.Conn) { answerAll(c, answer) })
	addr, lost := lossyPath(t, socket.LocalAddr())
	o := options(addr)
	o.Connections, o.Streams, o.Timeout = 3, 4, load.DefaultTimeout
	o.Requests = []load.Request{{Method: "GET", Path: "/"}, {Method: "POST", Path: "/", Body: make([]byte, 50_000)}}
	r, _, err := run(t, o, load.Leg{Ops: 200})
	if err != nil || r.Requests != 200 || len(r.Errors) != 0 || r.BodyIn != 200*20_000 || r.Opened != 3 {
		t.Errorf("%v: %d answered, %v, %d bytes, %d connections: %s", err, r.Requests, r.Errors, r.BodyIn, r.Opened, r.FirstError)
	}
	if lost() == 0 {
		t.Error("no packet was lost")
	}
}
