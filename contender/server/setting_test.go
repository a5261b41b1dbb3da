package server

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"
)

// other is an app that shares a setting with a shop.
func other() App {
	return App{Name: "other", New: func() Config { return &otherConfig{} }}
}

type otherConfig struct {
	plain
	rate, devices int
}

func (c *otherConfig) Settings() []Setting {
	return []Setting{Chosen("devices", "50", "`number` of devices", Number(&c.devices, 1, 100)), Chosen("rate-limit", Off, "`requests` a second", Rate(&c.rate))}
}

// services is a program that serves what has settings, and what has none.
func services() alone {
	return alone{Host{Apps: Apps{Plain("tiny", plainTiny), other(), goods(counter)}}}
}

func TestParseSettings(t *testing.T) {
	in := func(s shop) any {
		if s.limit == 0 {
			s.limit = 10
		}
		if s.maxBody == 0 {
			s.maxBody = 1 << 20
		}
		if s.rate == 0 {
			s.rate = 500
		}
		s.rate = max(s.rate, 0)
		return s
	}
	for _, tt := range []struct {
		args string
		env  map[string]string
		want any
		err  string
	}{
		{args: "-app tiny"},
		{args: "-app tiny", env: map[string]string{"TARE_LIMIT": "none of its business"}},
		{args: "-app shop", want: in(shop{})},
		{args: "-app shop -limit 100 -max-body 2MiB -token x -place /a:b -rotate 64MB", want: in(shop{limit: 100, maxBody: 2 << 20, token: "x", place: "/a:b", rotate: 64e6})},
		{args: "-app shop -fsync -limit=1", want: in(shop{fsync: true, limit: 1})},
		{args: "-app shop -fsync=on", want: in(shop{fsync: true})},
		{args: "-app shop -fsync=off", env: map[string]string{"TARE_FSYNC": "on"}, want: in(shop{})},
		{args: "-app shop", env: map[string]string{"TARE_FSYNC": "1", "TARE_TOKEN": "s", "TARE_MAX_BODY": "65536", "TARE_ROTATE": "1 GiB"}, want: in(shop{fsync: true, token: "s", maxBody: 65536, rotate: 1 << 30})},
		{args: "-app shop -token=", env: map[string]string{"TARE_TOKEN": "s"}, want: in(shop{})},
		{args: "-app shop -rate-limit off", want: in(shop{rate: -1})},
		{args: "-app shop -rate-limit 9", want: in(shop{rate: 9})},
		{args: "-rate-limit 9", want: [2]int{50, 9}},
		{env: map[string]string{"TARE_DEVICES": "3", "TARE_RATE_LIMIT": "9"}, want: [2]int{3, 9}},
		{args: "-app tiny -limit 3", err: "-limit is of app shop, and this is to serve tiny"},
		{args: "-app tiny -rate-limit 3", err: "-rate-limit is of app other and shop, and this is to serve tiny"},
		{args: "-app shop -devices 3", err: "-devices is of app other, and this is to serve shop"},
		{args: "-app shop -limit 0", err: `-limit: "0" is not an integer from 1`},
		{args: "-app shop -limit ten", err: `-limit: "ten"`},
		{args: "-app shop", env: map[string]string{"TARE_MAX_BODY": "1TB"}, err: `TARE_MAX_BODY: -max-body: "1TB" is no number of bytes`},
		{args: "-app shop -max-body 9999999999GiB", err: `no number of bytes`},
		{args: "-app shop -max-body -1", err: `no number of bytes`},
		{args: "-app shop -fsync=often", err: `"often" is neither on nor off`},
		{args: "-app shop -fsync often", err: `unexpected argument "often"`},
		{args: "-app shop -place nowhere", err: `"nowhere" is no place`},
		{args: "-rate-limit -1", err: `-rate-limit: "-1"`},
		{args: "-devices 0", err: `-devices: "0"`},
	} {
		s, err := services().parseFlags(strings.Fields(tt.args), nil, func(key string) string { return tt.env[key] })
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %v: %v, want %q", tt.args, tt.env, err, tt.err)
			}
			continue
		}
		var got any
		switch c := s.config.(type) {
		case *shopConfig:
			got = c.shop
		case *otherConfig:
			got = [2]int{c.devices, c.rate}
		}
		if err != nil || got != tt.want {
			t.Errorf("%s %v: %+v, %v, want %+v", tt.args, tt.env, got, err, tt.want)
		}
	}
}

// TestHelpKeepsSecrets: the list of flags has the settings of each app and
// their defaults, and not what the environment holds.
func TestHelpKeepsSecrets(t *testing.T) {
	var help bytes.Buffer
	_, err := services().parseFlags([]string{"-h"}, &help, func(key string) string { return map[string]string{"TARE_TOKEN": "hush"}[key] })
	text := help.String()
	if !errors.Is(err, flag.ErrHelp) || strings.Contains(text, "hush") {
		t.Errorf("%v: %s", err, text)
	}
	for _, want := range []string{"-token secret", "of shop: things in a basket (default 10)", "of other: number of devices (default 50)", "  -fsync\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	help.Reset()
	_, _ = alone{Host{Apps: Apps{Plain("tiny", plainTiny)}}}.parseFlags([]string{"-h"}, &help, func(string) string { return "" })
	if strings.Contains(help.String(), "-limit") {
		t.Errorf("tiny alone has settings of others: %s", help.String())
	}
}

func TestConfigured(t *testing.T) {
	for _, tt := range []struct {
		app App
		set map[string]string
		err string
	}{
		{Plain("tiny", nil), map[string]string{SetLog: "discard"}, ""},
		{Plain("tiny", nil), map[string]string{"limit": "10"}, `unknown setting "limit" of app "tiny"; it knows log, log_file, tls_cert, tls_key`},
		{Plain("", nil), map[string]string{"limit": "10"}, `unknown setting "limit" of app ""`},
		{goods(counter), map[string]string{"limit": "100", "place": "/tmp/x", "fsync": "on", SetLog: "none"}, ""},
		{goods(counter), map[string]string{"max_body": "1"}, `tls_key, limit, max-body, token, place, fsync, rotate, rate-limit`},
		{goods(counter), map[string]string{"devices": "1"}, `unknown setting "devices"`},
		{goods(counter), map[string]string{"rate-limit": "many"}, `rate-limit: "many"`},
	} {
		s, err := newLabSetup(tt.app, tt.set)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s %v: %v, want %q", tt.app.Name, tt.set, err, tt.err)
			}
			continue
		}
		if err != nil || s.app.Name != tt.app.Name || s.log != tt.set[SetLog] || !s.lab {
			t.Errorf("%s %v: %+v, %v", tt.app.Name, tt.set, s, err)
		}
		if c, ok := s.config.(*shopConfig); ok && (c.shop != shop{limit: 100, place: "/tmp/x", fsync: true, maxBody: 1 << 20}) {
			t.Errorf("%+v", c.shop)
		}
	}
	if s := (Setting{Name: "max-body"}); s.Env() != "TARE_MAX_BODY" {
		t.Error(s.Env())
	}
}

func TestDuration(t *testing.T) {
	d := time.Hour
	set := Duration(&d)
	for text, want := range map[string]time.Duration{"off": 0, "30s": 30 * time.Second} {
		if err := set(text); err != nil || d != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "on", "0s", "-1s", "30"} {
		if err := set(text); err == nil || !strings.Contains(err.Error(), "is neither off nor a duration") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The bound of a size is one of bytes, whatever the unit.
func TestSizeBound(t *testing.T) {
	var n int64
	if err := Size(&n, 65536)("1MiB"); err != nil || n != 1<<20 {
		t.Errorf("%d, %v", n, err)
	}
	if err := Size(&n, 65536)("63KiB"); err == nil {
		t.Error("less than the bound")
	}
}
