package load_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/tarebench/tare/load"
)

// A thousand requests over eight connections, after a hundred that are not measured; then two
// hundred requests per second, whatever the server does.
func Example() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	s, err := load.Open(load.Options{
		Target:      load.Target{Addr: server.Listener.Addr().String()},
		Requests:    []load.Request{{Method: "GET", Path: "/none"}},
		Connections: 8,
		Accept:      func(status int) bool { return status == http.StatusNotFound },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	r, err := s.Run(context.Background(), load.Leg{Lead: 100, Ops: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Requests, "answered on", r.Opened, "connections, of class status:", r.Errors[load.ErrStatus])

	r, err = s.Run(context.Background(), load.Leg{Duration: 100 * time.Millisecond, Profile: load.Constant{PerSecond: 200}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Asked, "a second asked,", r.Sent+r.Late, "in all,", r.Opened, "more connections")
	// Output:
	// 1000 answered on 8 connections, of class status: 0
	// 200 a second asked, 20 in all, 0 more connections
}
