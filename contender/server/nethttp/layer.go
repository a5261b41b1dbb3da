package nethttp

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// layers puts the app's middleware around next: a request's id first, then the
// access log, recovery, CORS and the rate limit, the last two only where they
// are configured.
func (h *home) layers(next http.Handler) http.Handler {
	if h.house.Limited() {
		next = h.layer(h.limit(next))
	}
	if h.house.CORS() {
		next = h.layer(h.cors(next))
	}
	return h.layer(h.identify(server.AccessLog(h.layer(h.recover(next)), h.o)))
}

// layer counts the calls of a middleware.
func (h *home) layer(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.o.Receipts.Layer()
		next(w, r)
	}
}

// identify gives each answer the id of its request.
func (h *home) identify(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", h.house.RequestID(r.Header.Get("X-Request-Id")))
		next.ServeHTTP(w, r)
	}
}

// recover answers for a handler that panics, unless that wants the connection
// to break.
func (h *home) recover(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			h.refuse(w, fmt.Errorf("panic: %v", v))
		}()
		next.ServeHTTP(w, r)
	}
}

// cors lets browsers show answers to pages of the origins that are configured.
func (h *home) cors(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if allowed := h.house.Allow(origin); allowed != "" {
			header.Set("Access-Control-Allow-Origin", allowed)
		}
		if r.Method != http.MethodOptions || origin == "" || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
		header.Set("Access-Control-Allow-Headers", "Content-Type, X-Request-Id")
		h.house.Served(http.StatusNoContent)
		w.WriteHeader(http.StatusNoContent)
	}
}

// limit refuses clients that ask too often.
func (h *home) limit(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		client, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			client = r.RemoteAddr
		}
		headers, ok := h.house.Take(client)
		for _, pair := range headers {
			w.Header().Set(pair[0], pair[1])
		}
		if !ok {
			h.refuse(w, homelab.TooMany())
			return
		}
		next.ServeHTTP(w, r)
	}
}
