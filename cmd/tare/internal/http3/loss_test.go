package http3

import (
	"context"
	"crypto/tls"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/h3"
)

// lossyPath relays packets to a server on loopback until the test ends, and loses one in a
// hundred each way. It returns the address to send to, and how many it has lost.
func lossyPath(t *testing.T, server net.Addr) (addr string, lost func() int) {
	t.Helper()
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	dropped, rng := 0, rand.New(rand.NewPCG(1, 2))
	drops := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if rng.IntN(100) > 0 {
			return false
		}
		dropped++
		return true
	}
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
			if !drops() {
				_, _ = front.WriteToUDP(b[:n], to)
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
			mu.Unlock()
			if err == nil && !drops() {
				_, _ = c.Write(b[:n])
			}
		}
	}()
	return front.LocalAddr().String(), func() int {
		mu.Lock()
		defer mu.Unlock()
		return dropped
	}
}

// A server that asks each client to prove its address (Retry), behind a path that loses
// packets both ways, answers all requests, large ones too.
func TestRetryAndLoss(t *testing.T) {
	secure := httptest.NewTLSServer(nil) // for its certificate
	config := &tls.Config{Certificates: secure.TLS.Certificates, NextProtos: []string{"h3"}}
	secure.Close()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	server := &quic.Transport{Conn: socket, VerifySourceAddress: func(net.Addr) bool { return true }}
	l, err := server.Listen(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Close()
		socket.Close()
	})
	answer := fineAnswer + string(h3.AppendFrame(nil, h3.Data, []byte(strings.Repeat("x", 20_000))))
	go func() {
		for {
			c, err := l.Accept(context.Background())
			if err != nil {
				return
			}
			go answerAll(c, answer)
		}
	}()
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
