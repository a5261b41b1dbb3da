package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// endGrace is how long a server that refused a connection has to say that it
// has ended: its listener closes before Serve returns.
const endGrace = time.Second

// answers waits until the server has answered a first request, of which its
// access log keeps a line.
func (r *running) answers(limit time.Duration) error {
	answered := make(chan error, 1)
	go func() { answered <- r.ask(limit) }()
	select {
	case err := <-answered:
		if err == nil {
			return nil
		}
		select {
		case ended := <-r.ended: // which is why it does not answer
			return r.quit(ended)
		case <-time.After(endGrace):
			return fmt.Errorf("the server at %s does not answer: %w", r.addr, err)
		}
	case err := <-r.ended:
		<-answered
		return r.quit(err)
	}
}

// quit is that the server has ended with err before anybody told it to.
func (r *running) quit(err error) error {
	r.ended <- err
	if err == nil {
		err = errors.New("it ended")
	}
	return fmt.Errorf("the server does not serve: %w", err)
}

// ask sends a request and reads the first line of its answer; over HTTP/2 it
// sends what begins a connection, and reads the server's settings.
func (r *running) ask(limit time.Duration) error {
	conn, err := net.DialTimeout("tcp", r.addr, limit)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	if r.pair != nil {
		itself := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}
		if r.http2 {
			itself.NextProtos = []string{"h2"}
		}
		conn = tls.Client(conn, itself)
	}
	if r.http2 {
		return greet(conn)
	}
	if _, err := fmt.Fprintf(conn, "GET /health HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", r.addr); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "HTTP/1.1 ") {
		err = fmt.Errorf("no HTTP/1.1: %.60q", line)
	}
	return err
}

// greet begins a connection of HTTP/2. See RFC 9113, 3.4 and 6.5.
func greet(conn net.Conn) error {
	const length, kind, settings = 9, 3, 4
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		return err
	}
	var head [length]byte
	n, err := io.ReadFull(conn, head[:])
	if n == length && head[kind] != settings || err != nil && n > 0 {
		return fmt.Errorf("no HTTP/2: %.60q", head[:n])
	}
	return err
}
