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

// Watch serves the page of a running load test on a loopback address. Connected browsers get its
// content again whenever [Watch.Show] replaces it. It renders only while a browser is connected.
type Watch struct {
	server   *http.Server
	listener net.Listener

	mu      sync.Mutex
	page    Page
	isLast  bool          // the run is over: page is the last one
	changed chan struct{} // closed when page changes, and then replaced
}

// Listen serves the page on addr, host:port, which must be a loopback address. Without a host it is
// 127.0.0.1.
func Listen(addr string, first Page) (*Watch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: host:port", addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if !isLoopback(host) {
		return nil, fmt.Errorf("address %q is not a loopback address, which only this machine can reach", addr)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	w := &Watch{listener: l, page: first, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", w.servePage)
	mux.HandleFunc("GET /events", w.serveEvents)
	w.server = &http.Server{Handler: requireLoopback(mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	go func() { _ = w.server.Serve(l) }() // returns an error after Close
	return w, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// requireLoopback rejects requests whose Host is not a loopback address, against DNS rebinding.
func requireLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !isLoopback(host) {
			http.Error(w, "not for "+r.Host, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// URL returns the address of the page.
func (w *Watch) URL() string { return "http://" + w.listener.Addr().String() + "/" }

// Show replaces the page, also in connected browsers.
func (w *Watch) Show(p Page) {
	const isLast = false
	w.setPage(p, isLast)
}

func (w *Watch) setPage(p Page, isLast bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.page, w.isLast = p, isLast
	close(w.changed)
	w.changed = make(chan struct{})
}

// currentPage returns the page, whether it is the last one, and a channel that is closed when the
// page changes.
func (w *Watch) currentPage() (p Page, isLast bool, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.page, w.isLast, w.changed
}

// Close sends connected browsers the end of the run and stops the server.
func (w *Watch) Close() error {
	p, _, _ := w.currentPage()
	const isLast = true
	w.setPage(p, isLast)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := w.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // a browser is too slow
		return w.server.Close()
	}
	return err
}

// servePage sends the page with a script that updates it by the events.
func (w *Watch) servePage(rw http.ResponseWriter, _ *http.Request) {
	p, _, _ := w.currentPage()
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Cache-Control", "no-store")
	const mayReadEvents = "; connect-src 'self'"
	_ = writePage(rw, p, watchScript, mayReadEvents) // fails if the browser has gone
}

// serveEvents sends the content of each new page as a server-sent event, and an event at the end of
// the run.
func (w *Watch) serveEvents(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/event-stream")
	rw.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(rw)
	for {
		p, isLast, changed := w.currentPage()
		if err := sendPage(rw, out, p, isLast); err != nil || isLast {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// sendTimeout limits how long a browser may take to receive an event.
const sendTimeout = 5 * time.Second

// sendPage writes the content of a page as one event, and the end of the run after the last page.
func sendPage(rw http.ResponseWriter, out *http.ResponseController, p Page, isLast bool) error {
	var b bytes.Buffer
	b.WriteString("data: ")
	var text bytes.Buffer
	if err := writeTemplate(&text, "content", newContent(p)); err != nil {
		return err
	}
	b.Write(bytes.ReplaceAll(text.Bytes(), []byte("\n"), []byte(" "))) // a line break would end the data
	b.WriteString("\n\n")
	if isLast {
		b.WriteString("event: over\ndata: \n\n")
	}
	if err := out.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	if _, err := rw.Write(b.Bytes()); err != nil {
		return err
	}
	return out.Flush()
}
