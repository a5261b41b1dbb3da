package homelab

import (
	"fmt"
	"mime"
	"net/url"
	"strings"
)

// origins are the web sites whose pages may read responses in a browser.
type origins struct {
	any  bool     // all sites may read responses
	list []string // e.g. https://home.example:8443
}

const typeJSON = "application/json" // media type of a command

// newOrigins parses the origins of a configuration. An origin is a scheme and a host without a path, as
// browsers send it, or * for all sites. newOrigins skips empty strings.
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

// CORS reports whether pages of at least one other site may read responses in a browser.
func (h *House) CORS() bool { return h.origins.any || len(h.origins.list) > 0 }

// Admit rejects a command that a browser sent for a page of another site. Browsers send forms and
// plain text to any server without a preflight, so Admit rejects content types other than JSON. It
// also rejects origins, unless they are configured or the origin of the service itself.
//
// The parameters are the request's headers Content-Type and Origin, and its host. A header that the
// request does not have is "", and is not checked: programs other than browsers send no Origin.
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

// Allow returns the value of the header Access-Control-Allow-Origin for a request's Origin, or "" if
// pages of the origin may not read the response.
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
