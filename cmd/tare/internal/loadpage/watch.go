package loadpage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Watch serves the page of a leg while it goes on, on a loopback address. It
// renders only while a browser is connected.
type Watch struct {
	server   *http.Server
	listener net.Listener

	mu      sync.Mutex
	page    Page
	over    bool
	changed chan struct{} // closed when there is a newer page
}

// Listen serves on addr, which is a loopback one.
func Listen(addr string, first Page) (*Watch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: host:port", addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if !loopback(host) {
		return nil, fmt.Errorf("address %q is none of this machine alone: the page is for a loopback address", addr)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	w := &Watch{listener: l, page: first, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", w.whole)
	mux.HandleFunc("GET /events", w.events)
	w.server = &http.Server{Handler: local(mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	go func() { _ = w.server.Serve(l) }() // ends with an error when it is closed
	return w, nil
}

// loopback reports whether host names this machine alone.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// local refuses requests that were made for another host: a page elsewhere
// could otherwise have a browser read this one under a name of its own.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !loopback(host) {
			http.Error(w, "not for "+r.Host, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// URL is where the page is.
func (w *Watch) URL() string { return "http://" + w.listener.Addr().String() + "/" }

// Show replaces the page.
func (w *Watch) Show(p Page) { w.replace(p, false) }

func (w *Watch) replace(p Page, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.page, w.over = p, over
	close(w.changed)
	w.changed = make(chan struct{})
}

// current is the page, whether it is the last one, and what tells of the next.
func (w *Watch) current() (p Page, over bool, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.page, w.over, w.changed
}

// Close shows browsers that are connected that it is over, and ends.
func (w *Watch) Close() error {
	p, _, _ := w.current()
	w.replace(p, true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := w.server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		return w.server.Close()
	} else {
		return err
	}
}

func (w *Watch) whole(rw http.ResponseWriter, _ *http.Request) {
	p, _, _ := w.current()
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Cache-Control", "no-store")
	_ = write(rw, p, watchScript, "; connect-src 'self'") // a browser that has gone
}

// events sends the content of each page that comes, and then that it is over.
func (w *Watch) events(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/event-stream")
	rw.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(rw)
	for {
		p, over, changed := w.current()
		if err := send(rw, out, p, over); err != nil || over {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// send writes a page as one event. A browser that does not take it in time is
// left alone.
func send(rw http.ResponseWriter, out *http.ResponseController, p Page, over bool) error {
	var b bytes.Buffer
	b.WriteString("data: ")
	var text bytes.Buffer
	if err := execute(&text, "content", newContent(p)); err != nil {
		return err
	}
	b.Write(bytes.ReplaceAll(text.Bytes(), []byte("\n"), []byte(" ")))
	b.WriteString("\n\n")
	if over {
		b.WriteString("event: over\ndata: \n\n")
	}
	if err := out.SetWriteDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	if _, err := rw.Write(b.Bytes()); err != nil {
		return err
	}
	return out.Flush()
}
