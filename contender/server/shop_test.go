package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/tarebench/tare/contender/wire"
)

// shop is an app with a setting of each sort, and a service that keeps nothing but counts.
type shop struct {
	limit           int
	maxBody, rotate int64
	token, place    string
	fsync           bool
	rate            int
}

type shopConfig struct {
	shop
	open func(c *shopConfig, lab bool) (Service, error)
}

// goods is the app of a shop, sold by serve.
func goods(serve func(o Options, s *stock) (Server, error)) App {
	return App{Name: "shop", HTTP2: true, New: func() Config {
		return &shopConfig{open: func(c *shopConfig, lab bool) (Service, error) {
			s := &stock{lab: lab, config: c.shop}
			if c.place == "closed" {
				return Service{}, errors.New("no room")
			}
			made := Service{
				Make:      func(o Options) (Server, error) { return serve(o, s) },
				Delivered: s.sold.Load,
				Calls:     func() wire.Calls { return wire.Calls{Create: s.sold.Load()} },
				Fault:     s.failed,
				Reset:     func(context.Context) error { s.sold.Store(0); return nil },
				Close:     func() error { s.closed.Store(true); return s.closes },
				Keeps:     "shop",
			}
			if c.place == "" {
				made.Notices = []string{"nothing is kept"}
			}
			return made, nil
		}}
	}}
}

func (c *shopConfig) Settings() []Setting {
	rate := Chosen("rate-limit", "500", "`requests` a minute", Rate(&c.rate))
	rate.Measured = Off
	return []Setting{
		Chosen("limit", "10", "`things` in a basket", Number(&c.limit, 1, 1_000_000)),
		Chosen("max-body", "1MiB", "`bytes` of a body", Size(&c.maxBody, 1)),
		Chosen("token", "", "`secret` of customers", Text(&c.token)),
		Chosen("place", "", "where it is", Text(&c.place)),
		Chosen("fsync", Off, "things are paid at once", Switched(&c.fsync)),
		Chosen("rotate", "0", "`bytes` of a till", Size(&c.rotate, 0)),
		rate,
	}
}

func (c *shopConfig) Check() error {
	if c.place == "nowhere" {
		return fmt.Errorf("%q is no place", c.place)
	}
	return nil
}

func (c *shopConfig) Open(lab bool) (Service, error) { return c.open(c, lab) }

// stock is the service.
type stock struct {
	lab    bool
	config shop
	sold   atomic.Int64
	closed atomic.Bool
	fault  atomic.Pointer[error] // what it fails with
	closes error                 // what closing it fails with
}

func (s *stock) failed() error {
	if err := s.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// counter serves a shop: each POST sells.
func counter(o Options, s *stock) (Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, o.Variant, s.sold.Load()) })
	mux.HandleFunc("POST /{what}", func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request()
		if what := r.PathValue("what"); strings.HasPrefix(what, "fault") {
			err := errors.New(what)
			s.fault.Store(&err)
		}
		fmt.Fprintln(w, s.sold.Add(1))
	})
	return HTTP2(AccessLog(mux, o)), nil
}
