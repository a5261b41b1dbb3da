package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"runtime"
	"syscall"
	"time"
)

// runExchange is the client of bareExchange. It has one request in flight on each connection, and only
// makes the necessary system calls, on one thread. It does not parse answers: it counts bytes, and assumes
// that all answers are as long as the first.
func runExchange(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("exchange", flag.ContinueOnError)
	addr := flags.String("addr", "", "host:port")
	connections := flags.Int("connections", 0, "")
	duration := flags.Duration("duration", 0, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runtime.LockOSThread()
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("create epoll: %w", err)
	}
	defer syscall.Close(poll)
	request := []byte("GET / HTTP/1.1\r\nHost: " + *addr + "\r\n\r\n")
	size, err := answerSize(*addr, request)
	if err != nil {
		return err
	}
	var left []int // missing bytes of the answer in flight, by descriptor
	for range *connections {
		c, err := net.Dial("tcp", *addr)
		if err != nil {
			return err
		}
		defer c.Close()
		raw, err := c.(*net.TCPConn).File() // a descriptor that the Go runtime does not poll
		if err != nil {
			return err
		}
		defer raw.Close()
		fd := int(raw.Fd())
		if err := syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}); err != nil {
			return fmt.Errorf("add to epoll: %w", err)
		}
		if _, err := syscall.Write(fd, request); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		for len(left) <= fd {
			left = append(left, 0)
		}
		left[fd] = size
	}
	answers, err := countAnswers(poll, left, size, request, *duration)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(report{Requests: answers})
}

// countAnswers reads answers of size bytes for duration d, and sends the next request after each. poll is
// the epoll descriptor. left has the missing bytes of answers, by descriptor.
func countAnswers(poll int, left []int, size int, request []byte, d time.Duration) (answers int64, err error) {
	events, buf := make([]syscall.EpollEvent, 128), make([]byte, 64<<10)
	const maxWait = 100 // ms, after which the end of the duration is checked
	for end := time.Now().Add(d); time.Now().Before(end); {
		n, err := syscall.EpollWait(poll, events, maxWait)
		if err != nil && err != syscall.EINTR {
			return answers, fmt.Errorf("wait for answers: %w", err)
		}
		for _, e := range events[:max(0, n)] {
			got, err := syscall.Read(int(e.Fd), buf)
			if err == nil && got == 0 {
				err = io.EOF
			}
			if err != nil {
				return answers, fmt.Errorf("receive: %w", err)
			}
			if left[e.Fd] -= got; left[e.Fd] > 0 {
				continue
			}
			answers++
			left[e.Fd] += size
			if _, err := syscall.Write(int(e.Fd), request); err != nil {
				return answers, fmt.Errorf("send: %w", err)
			}
		}
	}
	return answers, nil
}

// answerSize returns the number of bytes of an answer. All must arrive within a tenth of a second.
func answerSize(addr string, request []byte) (int, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if _, err := c.Write(request); err != nil {
		return 0, err
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		return 0, err
	}
	if err := c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		return 0, err
	}
	rest, _ := io.Copy(io.Discard, c) // ends at the deadline
	return 1 + int(rest), nil
}
