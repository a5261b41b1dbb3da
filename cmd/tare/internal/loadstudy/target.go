package loadstudy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/grpccall"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// Target is a server to load, parsed from a URL.
type Target struct {
	URL  string // without user and password, for messages
	Addr string // host:port
	Host string // value of the Host header
	Path string // escaped path with the query, e.g. /users?limit=2
	RPC  bool   // the server speaks gRPC; Path is /package.Service/Method
	Name string // name that the server's certificate must have; "" means no TLS
	Auth string // value of the Authorization header; "" for none
}

// ParseTarget parses a URL with the scheme http, https, grpc or grpcs. A URL without a scheme means
// http, and :PORT means http on this machine.
func ParseTarget(text string) (Target, error) {
	fail := func(why string) (Target, error) {
		return Target{}, cmdenv.Usage(fmt.Sprintf("%q is not a URL to load: %s", text, why), "e.g. http://127.0.0.1:8080/path")
	}
	complete := text
	switch {
	case strings.HasPrefix(text, ":"):
		complete = "http://127.0.0.1" + text
	case !strings.Contains(text, "://"):
		complete = "http://" + text
	}
	u, err := url.Parse(complete)
	if err != nil {
		return fail(strings.TrimPrefix(format.Line(err.Error(), 0), "parse "))
	}
	port := map[string]string{"http": "80", "https": "443", "grpc": "80", "grpcs": "443"}[u.Scheme]
	switch {
	case port == "":
		return fail("its scheme is none of http, https, grpc and grpcs")
	case u.Hostname() == "":
		return fail("it names no host")
	case u.Port() != "":
		port = u.Port()
	}
	u.Fragment, u.RawFragment = "", ""
	t := Target{Addr: net.JoinHostPort(u.Hostname(), port), Host: u.Host, Path: u.RequestURI()}
	if err := load.CheckRequest(load.Request{Method: "GET", Path: t.Path}); err != nil {
		return fail(err.Error())
	}
	t.RPC = strings.HasPrefix(u.Scheme, "grpc")
	if t.RPC {
		if _, _, err := grpccall.Split(t.Path); err != nil {
			return fail(err.Error())
		}
	}
	if strings.HasSuffix(u.Scheme, "s") { // https or grpcs
		t.Name = u.Hostname()
	}
	if u.User != nil {
		t.Auth = basicAuth(u.User)
		u.User = nil
	}
	t.URL = u.String()
	return t, nil
}

// Server returns the URL of the server without user and path.
func (t Target) Server() string {
	scheme := "http"
	if t.RPC {
		scheme = "grpc"
	}
	if t.Name != "" {
		scheme += "s"
	}
	return scheme + "://" + t.Host
}

// Trust configures TLS to a server.
type Trust struct {
	Insecure bool           // accept any certificate
	Roots    *x509.CertPool // trusted roots; nil means the system's
	PEM      []byte         // Roots in PEM; nil means the system's
	Version  uint16         // as in [tls.Config]; 0 means the newest that both support
}

// ForLoad converts t for the load generator.
func (t Target) ForLoad(trust Trust) load.Target {
	target := load.Target{Addr: t.Addr, Host: t.Host}
	if t.Name == "" {
		return target
	}
	target.TLS = &tls.Config{
		ServerName: t.Name, RootCAs: trust.Roots, InsecureSkipVerify: trust.Insecure,
		MinVersion: max(trust.Version, tls.VersionTLS12), MaxVersion: trust.Version,
	}
	return target
}
