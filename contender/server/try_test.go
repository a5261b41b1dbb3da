package server

import (
	"net"
	"testing"
)

// TestReachable: what is listened at everywhere is asked at the loopback.
func TestReachable(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:80":   "http://127.0.0.1:80",
		"192.0.2.7:8080": "http://192.0.2.7:8080",
		"[::1]:80":       "http://[::1]:80",
		"[::]:80":        "http://127.0.0.1:80",
		"0.0.0.0:80":     "http://127.0.0.1:80",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := newAddress(tcp, false).URL(); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

func TestTry(t *testing.T) {
	at := Address{Host: "127.0.0.1:80", Encrypted: true}
	if got := (Service{}).tryCommand("", at); got != "curl -sk https://127.0.0.1:80/health" {
		t.Errorf("%q", got)
	}
	s := Service{Try: func(variant string, at Address) string { return variant + " at " + at.Host }}
	if got := s.tryCommand("gin", at); got != "gin at 127.0.0.1:80" {
		t.Errorf("%q", got)
	}
}
