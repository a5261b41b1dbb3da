package router

import "net/http"

// Wrap applies all layers to h, the first one outermost. It is for routers without own middleware.
func (s Spec) Wrap(h http.Handler) http.Handler {
	for i := len(s.Layers) - 1; i >= 0; i-- {
		h = s.Layers[i].Handler(h)
	}
	return h
}

// Handler returns next with the layer applied, in the usual form of net/http's middleware.
func (l Layer) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.HTTP(w, r, func(w http.ResponseWriter) { next.ServeHTTP(w, r) })
	})
}

// HTTP applies the layer to next, which must use the writer it receives. LayerAccess logs the status and so
// wraps w, as middleware for net/http does.
func (l Layer) HTTP(w http.ResponseWriter, r *http.Request, next func(w http.ResponseWriter)) {
	status := func() int { return http.StatusOK } // the other layers do not call it
	if l.Name == LayerAccess {
		wrapped := &statusWriter{ResponseWriter: w}
		w, status = wrapped, wrapped.statusCode
	}
	l.Around(Exchange{
		Method: r.Method,
		Path:   r.URL.Path,
		Get:    r.Header.Get,
		Set:    w.Header().Set,
		Next:   func() { next(w) },
		Status: status,
		Stop:   w.WriteHeader,
	})
}

type statusWriter struct {
	http.ResponseWriter
	status int // 0 until WriteHeader is called
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the original writer for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) statusCode() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}
