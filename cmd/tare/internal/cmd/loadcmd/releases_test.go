package loadcmd

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseGoRun(t *testing.T) {
	for command, want := range map[string]string{
		"go run .":                               "[] [] [.] []",
		"go run ./cmd/api -port $PORT":           "[] [] [./cmd/api] [-port $PORT]",
		"go run -race -tags=a,b . -v x.go":       "[] [-race -tags=a,b] [.] [-v x.go]",
		"/usr/bin/go run a.go b.go c":            "[] [] [a.go b.go] [c]",
		"env CGO_ENABLED=0 A=b go run ./api -p1": "[env CGO_ENABLED=0 A=b] [] [./api] [-p1]",
		"env go run .":                           "[env] [] [.] []",
		"go run":                                 "",
		"go run -race":                           "",
		"go build .":                             "",
		"./api -port $PORT":                      "",
		"env A=b":                                "",
		"sh go run .":                            "",
	} {
		got := ""
		if p, ok := parseGoRun(strings.Fields(command)); ok {
			got = fmt.Sprint(p.env, p.flags, p.packages, p.args)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
