package homelab

import (
	"fmt"
	"mime"
	"net/url"
	"strings"
)

// origins are the sites that may read responses in a browser.
type origins struct {
	any  bool
	list []string
}

// newOrigins checks that each could be sent by a browser: scheme and host.
func newOrigins(given []string) (origins, error) {
	var o origins
	for _, s := range given {
		switch s = strings.TrimSpace(s); {
		case s == "":
			continue
		case s == "*":
			o.any = true
			continue
		}
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != s {
			return o, fmt.Errorf("%q is no origin; one is like https://home.example:8443, and * is any", s)
		}
		o.list = append(o.list, s)
	}
	return o, nil
}

// CORS reports whether any origin may read answers in a browser.
func (h *House) CORS() bool { return h.origins.any || len(h.origins.list) > 0 }

// Admit rejects a command that a page of another site let a browser send: browsers send forms and
// plain text to any server without a preflight, and name the page's origin. Its parameters are the
// headers Content-Type and Origin, either may be "", and the host of the request. Programs other
// than browsers send no Origin.
func (h *House) Admit(contentType, origin, host string) error {
	if contentType != "" && contentType != typeJSON {
		name, _, err := mime.ParseMediaType(contentType)
		if err != nil || name != typeJSON {
			return notJSON(contentType)
		}
	}
	if origin == "" || h.Allow(origin) != "" {
		return nil
	}
	if _, own, ok := strings.Cut(origin, "://"); ok && own != "" && strings.EqualFold(own, host) {
		return nil
	}
	return crossSite(origin)
}

const typeJSON = "application/json"

// Allow returns the value of Access-Control-Allow-Origin for a request's Origin; "" if none.
func (h *House) Allow(origin string) string {
	if origin == "" {
		return ""
	}
	if h.origins.any {
		return "*"
	}
	for _, o := range h.origins.list {
		if o == origin {
			return o
		}
	}
	return ""
}
