package nethttp

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/server"
)

// addLayers adds the middleware of app homelab: request id, access log, recovery from panics, CORS and rate
// limit. The last two are only there if configured.
func (h *home) addLayers(next http.Handler) http.Handler {
	if h.house.Limited() {
		next = h.countCalls(h.limitRate(next))
	}
	if h.house.CORS() {
		next = h.countCalls(h.addCORS(next))
	}
	return h.countCalls(h.addRequestID(server.AccessLog(h.countCalls(h.recoverPanic(next)), h.o)))
}

// countCalls counts calls of a middleware, to be compared with the requests.
func (h *home) countCalls(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.o.Receipts.Layer()
		next(w, r)
	}
}

func (h *home) addRequestID(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", h.house.RequestID(r.Header.Get("X-Request-Id")))
		next.ServeHTTP(w, r)
	}
}

// recoverPanic answers a panic of next with an error. http.ErrAbortHandler closes the connection.
func (h *home) recoverPanic(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			h.writeError(w, fmt.Errorf("panic: %v", v))
		}()
		next.ServeHTTP(w, r)
	}
}

// addCORS lets pages of configured origins read answers.
func (h *home) addCORS(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if allowed := h.house.Allow(origin); allowed != "" {
			header.Set("Access-Control-Allow-Origin", allowed)
		}
		isPreflight := r.Method == http.MethodOptions && origin != "" && r.Header.Get("Access-Control-Request-Method") != ""
		if !isPreflight {
			next.ServeHTTP(w, r)
			return
		}
		header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
		header.Set("Access-Control-Allow-Headers", "Content-Type, X-Request-Id")
		h.house.Served(http.StatusNoContent)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (h *home) limitRate(next http.Handler) http.HandlerFunc {
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
			h.writeError(w, homelab.TooMany())
			return
		}
		next.ServeHTTP(w, r)
	}
}
