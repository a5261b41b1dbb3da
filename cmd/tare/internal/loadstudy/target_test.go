package loadstudy

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:8080/a?b=c":     "http://127.0.0.1:8080/a?b=c 127.0.0.1:8080 127.0.0.1:8080 /a?b=c",
		":8080":                           "http://127.0.0.1:8080 127.0.0.1:8080 127.0.0.1:8080 /",
		":8080/x%20y#z":                   "http://127.0.0.1:8080/x%20y 127.0.0.1:8080 127.0.0.1:8080 /x%20y",
		"localhost/x":                     "http://localhost/x localhost:80 localhost /x",
		"https://example.com":             "https://example.com example.com:443 example.com / example.com",
		"https://[::1]:8443/é":            "https://[::1]:8443/%C3%A9 [::1]:8443 [::1]:8443 /%C3%A9 ::1",
		"http://user:pass@127.0.0.1:1/":   "http://127.0.0.1:1/ 127.0.0.1:1 127.0.0.1:1 / Basic dXNlcjpwYXNz",
		"http://127.0.0.1:8080/a/../b//c": "http://127.0.0.1:8080/a/../b//c 127.0.0.1:8080 127.0.0.1:8080 /a/../b//c",
	} {
		got, err := ParseTarget(text)
		line := strings.Join(strings.Fields(strings.Join([]string{got.URL, got.Addr, got.Host, got.Path, got.Name, got.Auth}, " ")), " ")
		if err != nil || line != want {
			t.Errorf("%s: %q, %v, want %q", text, line, err, want)
		}
	}
	for _, text := range []string{"", "ftp://x/", "unix:///x", "http://", "http:///x", "http://[::1", "http://x:port/", "http://x/a?b=c d"} {
		if got, err := ParseTarget(text); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), "is not a URL to load") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got, _ := ParseTarget("https://example.com/x"); got.ForLoad(Trust{Insecure: true}).TLS == nil || !got.ForLoad(Trust{Insecure: true}).TLS.InsecureSkipVerify || got.ForLoad(Trust{}).TLS.InsecureSkipVerify || got.Server() != "https://example.com" {
		t.Errorf("%+v", got)
	}
}
