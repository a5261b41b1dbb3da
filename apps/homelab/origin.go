package homelab

import (
	"fmt"
	"mime"
	"net/url"
	"strings"
)

// origins are sites whose pages may read responses in a browser.
type origins struct {
	any  bool     // all sites may read responses
	list []string // e.g. https://home.example:8443
}

const typeJSON = "application/json" // media type of a command

// newOrigins parses origins: a scheme and a host, as browsers send them, or * for all. Empty strings are
// skipped.
func newOrigins(values []string) (origins, error) {
	var o origins
	for _, s := range values {
		switch s = strings.TrimSpace(s); {
		case s == "":
			continue
		case s == "*":
			o.any = true
			continue
		}
		u, err := url.Parse(s)
		isOrigin := err == nil && u.Scheme != "" && u.Host != "" && s == u.Scheme+"://"+u.Host
		if !isOrigin {
			return o, fmt.Errorf("%q is no origin; one is like https://home.example:8443, and * is any", s)
		}
		o.list = append(o.list, s)
	}
	return o, nil
}

// CORS reports whether pages of any other site may read responses.
func (h *House) CORS() bool { return h.origins.any || len(h.origins.list) > 0 }

// Admit rejects commands of a page of another site. Browsers send forms and plain text without a preflight, so
// only JSON is accepted. Origins must be configured, or the service's own.
//
// The parameters are the headers Content-Type and Origin, and the host. "" is not checked: only browsers send
// Origin.
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
	_, originHost, _ := strings.Cut(origin, "://")
	if originHost != "" && strings.EqualFold(originHost, host) {
		return nil // a page of the service itself
	}
	return crossSite(origin)
}

// Allow returns Access-Control-Allow-Origin for an Origin, or "".
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
