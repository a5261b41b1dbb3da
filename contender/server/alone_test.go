package server

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	two := alone{Host{Apps: Apps{Plain("tiny", plainTiny), Plain("huge", plainTiny)}, Variants: []string{"new", "old"}}}
	one := alone{Host{Apps: Apps{Plain("tiny", plainTiny)}}}
	env := map[string]string{}
	for _, tt := range []struct {
		a    alone
		args string
		env  string // TARE_APP TARE_ADDR TARE_LOG
		want setup
		err  string
	}{
		{a: one, want: setup{app: App{Name: "tiny"}, addr: "127.0.0.1:8080", log: "none"}},
		{a: two, want: setup{app: App{Name: "huge"}, addr: "127.0.0.1:8080", log: "none", variant: "new"}},
		{a: two, args: "-app tiny -addr :0 -log file:/x:y -variant old", want: setup{app: App{Name: "tiny"}, addr: ":0", log: "file", logFile: "/x:y", variant: "old"}},
		{a: two, env: "tiny localhost:1 discard", want: setup{app: App{Name: "tiny"}, addr: "localhost:1", log: "discard", variant: "new"}},
		{a: two, env: "tiny localhost:1 discard", args: "-log=stdout --app huge", want: setup{app: App{Name: "huge"}, addr: "localhost:1", log: "stdout", variant: "new"}},
		{a: one, args: "-tls-cert c -tls-key k", want: setup{app: App{Name: "tiny"}, addr: "127.0.0.1:8080", log: "none", cert: "c", key: "k"}},
		{a: two, args: "-app small", err: `unknown app "small"; known: huge, tiny`},
		{a: two, args: "-variant newer", err: `unknown variant "newer"; known: new, old`},
		{a: one, args: "-variant new", err: "there is only one variant"},
		{a: one, args: "-log loud", err: `unknown log "loud"`},
		{a: one, args: "-log pty", err: `unknown log "pty"`},
		{a: one, args: "-log file:", err: `unknown log "file"`},
		{a: one, args: "-max-conns 7", want: setup{app: App{Name: "tiny"}, addr: "127.0.0.1:8080", log: "none", maxConns: 7}},
		{a: one, args: "-max-conns 0", err: "at least 1"},
		{a: one, args: "-tls-cert c", err: "go together"},
		{a: one, args: "-port 80", err: "-help lists the flags"},
		{a: one, args: "tiny", err: `unexpected argument "tiny"`},
	} {
		words := append(strings.Fields(tt.env), "", "", "")
		env[EnvApp], env[EnvAddr], env[EnvLog] = words[0], words[1], words[2]
		got, err := tt.a.parseFlags(strings.Fields(tt.args), nil, func(key string) string { return env[key] })
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %q", tt.args, err, tt.err)
			}
		case err != nil || !reflect.DeepEqual(bare(got), tt.want):
			t.Errorf("%s %s: %+v, %v, want %+v", tt.env, tt.args, got, err, tt.want)
		}
	}
	var help bytes.Buffer
	if _, err := two.parseFlags([]string{"-h"}, &help, os.Getenv); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "app to serve: huge, tiny") {
		t.Errorf("%v: %s", err, help.String())
	}
}

// bare is s without what there are functions in.
func bare(s setup) setup {
	s.app, s.config = App{Name: s.app.Name}, nil
	if s.maxConns == DefaultConnections {
		s.maxConns = 0
	}
	return s
}

// lines hands on what is written to it.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

func TestServesAlone(t *testing.T) {
	a := alone{Host{Apps: Apps{Plain("tiny", plainTiny)}}}
	path := filepath.Join(t.TempDir(), "log")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := anywhere(a.Apps[0])
	s.log, s.logFile, s.stdout = LogFile, path, os.Stdout
	said, done := make(lines, 9), make(chan error, 1)
	go func() { done <- a.serveUntilDone(ctx, s, said) }()
	var line string
	select {
	case line = <-said:
	case err := <-done:
		t.Fatal(err)
	}
	_, url, ok := strings.Cut(line, ": serving tiny at ")
	if !ok || !strings.HasSuffix(url, "\n") {
		t.Fatalf("%q", line)
	}
	if got := get(t, strings.TrimSpace(url)+"/v1/id/7"); got != "200 {\"id\":\"7\"}\n" {
		t.Errorf("%q", got)
	}
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n") != 1 {
		t.Errorf("%v: %s", err, text)
	}
}

func TestAloneCodes(t *testing.T) {
	a := alone{Host{Apps: Apps{Plain("tiny", plainTiny)}}}
	for args, want := range map[string]int{"-h": 0, "-x": 2, "-addr 127.0.0.1:99999": 1, "-tls-cert /nowhere -tls-key /nowhere": 1} {
		var stderr bytes.Buffer
		if code := a.main(strings.Fields(args), os.Stdout, &stderr); code != want || stderr.Len() == 0 {
			t.Errorf("%s: code %d, want %d: %s", args, code, want, stderr.String())
		}
	}
}
