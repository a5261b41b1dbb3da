package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load"
)

func TestReadTools(t *testing.T) {
	r, err := wrk{}.read([]byte("Running 3s test\n  1 threads and 50 connections\n  159226 requests in 3.05s, 20.20MB read\nRequests/sec: 5\n"))
	assert.NoError(t, "wrk", err)
	assert.Equal(t, "wrk", r, report{Requests: 159226})
	r, err = oha{}.read([]byte(`{"latencyPercentiles":{"p50":0.000149452,"p99":0.000904834},"statusCodeDistribution":{"200":9990,"404":3}}`))
	assert.NoError(t, "oha", err)
	assert.Equal(t, "oha", r, report{Requests: 9993, P50: 149452, P99: 904834})
	r, err = h2load{}.read([]byte("finished in 3.00s, 1000.00 req/s, 50.00KB/s\nrequests: 3000 total, 3050 started, 3000 done, 3000 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 3000 2xx, 0 3xx, 0 4xx, 0 5xx\n"))
	assert.NoError(t, "h2load", err)
	assert.Equal(t, "h2load", r, report{Requests: 3000})
	_, err = h2load{}.read([]byte("status codes: 3000 2xx, 0 3xx, 1 4xx, 0 5xx\n"))
	assert.ErrorContains(t, "h2load", err, "1 4xx")
	r, err = ghz{}.read([]byte(`{"count":7,"statusCodeDistribution":{"OK":7}}`))
	assert.NoError(t, "ghz", err)
	assert.Equal(t, "ghz", r, report{Requests: 7})
	_, err = ghz{}.read([]byte(`{"statusCodeDistribution":{"OK":7,"Unavailable":1}}`))
	assert.ErrorContains(t, "ghz", err, "Unavailable:1")
	r, err = fortio{}.read([]byte(`{"RetCodes":{"SERVING":8}}`))
	assert.NoError(t, "fortio", err)
	assert.Equal(t, "fortio", r, report{Requests: 8})
	r, err = tareQuiet{}.read([]byte(`{"schema":"tare.load/1","requests":9,"sent":9}`))
	assert.NoError(t, "tare", err)
	assert.Equal(t, "tare", r.Requests, 9)
	_, err = wrk{}.read([]byte("unable to connect"))
	assert.ErrorContains(t, "wrk", err, "unable to connect")
	if (wrk{}).args(job{rate: 1}) != nil {
		t.Error("wrk cannot hold a rate")
	}
	names := func(j job) (out string) {
		for _, able := range (&bench{tools: []tool{packageLoad{load.Epoll}, bareExchange{}, wrk{}, oha{h3: true}, h2load{}, ghz{}, fortio{}, tareQuiet{}, tareLive{}, tareWatched{}}}).toolsFor(j) {
			out += able.name() + " "
		}
		return out
	}
	assert.Equal(t, "over TLS", names(job{way: secure}), "epoll wrk oha h2load ")
	assert.Equal(t, "in HTTP/2", names(job{way: h2c}), "epoll oha h2load ")
	assert.Equal(t, "in plain text", names(job{}), "epoll kernel's limit wrk oha h2load ")
	assert.Equal(t, "at a rate", names(job{rate: 1}), "epoll oha ")
	assert.Equal(t, "by gRPC", names(job{way: grpc}), "epoll ghz fortio ")
	assert.Equal(t, "in HTTP/3", names(job{way: h3}), "oha tare ")
	assert.Equal(t, "watched", names(job{way: views}), "tare tare, live view tare, --watch ")
}

func TestAgainst(t *testing.T) {
	x := map[string][]float64{"epoll": {12, 24, 36, 48, 60, 72, 84, 96}, "wrk": {10, 20, 30, 40, 50, 60, 70, 80}}
	assert.Equal(t, "ratio", formatRatio(packageLoad{load.Epoll}, wrk{}, x), "1.200  (95 %: 1.200 to 1.200)")
	assert.Equal(t, "of itself", formatRatio(packageLoad{load.Epoll}, packageLoad{load.Epoll}, x), "")
}

func TestRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"5 rounds are too few": {"-rounds", "5"},
		"full seconds":         {"-each", "1500ms"},
		"at least 1":           {"-connections", "0"},
		"unknown arg":          {"please"},
		"flag: help requested": {"-help"},
	} {
		var out bytes.Buffer
		err := runCommand(context.Background(), args, nil, &out, &out)
		assert.ErrorContains(t, want, err, want)
		if want == "flag: help requested" && !strings.Contains(out.String(), "apt-get install wrk") {
			t.Errorf("--help does not say how tools are installed:\n%s", out.String())
		}
	}
	_, err := parseFlags([]string{"-server", "a", "-server", "b"}, nil)
	assert.NoError(t, "two servers", err)
}

func TestDriveSaysWhatWentWrong(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := runLoad(ctx, []string{"-addr", "127.0.0.1:1", "-connections", "1", "-duration", "1s"}, nil)
	assert.ErrorIs(t, "drive", err, context.DeadlineExceeded)
}

// Our own server answers our own load generator in every way.
func TestWays(t *testing.T) {
	for _, way := range []string{plain, secure, h2c, grpc} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		assert.NoError(t, "listen", err)
		addr := l.Addr().String()
		l.Close()
		in, stop := io.Pipe()
		served := make(chan error)
		go func() { served <- runServer([]string{"-addr", addr, "-way", way}, in) }()
		for range 1000 {
			c, err := net.Dial("tcp", addr)
			if err == nil {
				c.Close()
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		var out bytes.Buffer
		err = runLoad(context.Background(), []string{"-addr", addr, "-connections", "2", "-duration", "100ms", "-way", way}, &out)
		assert.NoError(t, "drive "+way, err)
		r, err := packageLoad{}.read(out.Bytes())
		assert.NoError(t, "read", err)
		if r.Requests == 0 {
			t.Errorf("%s: no answer", way)
		}
		stop.Close()
		assert.ErrorIs(t, "serve "+way, <-served, http.ErrServerClosed)
	}
}
