package server

import (
	"bytes"
	"errors"
	"flag"
	"reflect"
	"strings"
	"testing"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/ingest"
)

// services is a program that serves what has settings, and what has none.
func services() alone {
	return alone{Host{Apps: Apps{"tiny": plainTiny, AppIngest: plainTiny, AppHomelab: plainTiny}}}
}

func TestSettingsAreSound(t *testing.T) {
	seen := map[string]bool{SetLog: true, SetLogFile: true, SetTLSCert: true, SetTLSKey: true, "app": true, "addr": true, "variant": true}
	for _, app := range []string{AppIngest, AppHomelab} {
		for _, weighed := range []bool{false, true} {
			if _, err := defaults(app, weighed); err != nil {
				t.Errorf("%s, weighed %v: %v", app, weighed, err)
			}
		}
		for _, s := range Settings(app) {
			if seen[s.Name] || s.Help == "" {
				t.Errorf("%+v", s)
			}
			seen[s.Name] = true
		}
	}
	if s := Settings("tiny"); s != nil {
		t.Errorf("tiny has %v", s)
	}
	if s := (Setting{Name: "max-body"}); s.Env() != "TARE_MAX_BODY" {
		t.Error(s.Env())
	}
}

func TestDefaults(t *testing.T) {
	want := ingest.Config{Limit: ingest.DefaultLimit, MaxBody: ingest.DefaultMaxBody, Sink: "null", SpoolBytes: 1 << 30}
	if c, err := defaults(AppIngest, false); err != nil || !reflect.DeepEqual(c, config{ingest: want}) {
		t.Errorf("%+v, %v", c, err)
	}
	for weighed, rate := range map[bool]int{false: 500, true: 0} {
		if c, err := defaults(AppHomelab, weighed); err != nil || c.devices != 50 || c.homelab.Rate != rate || len(c.homelab.Origins) != 0 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

func TestParseSettings(t *testing.T) {
	in := func(c ingest.Config) config {
		if c.Limit == 0 {
			c.Limit = 10
		}
		c.SpoolBytes = 1 << 30
		if c.MaxBody == 0 {
			c.MaxBody = 1 << 20
		}
		if c.Sink == "" {
			c.Sink = "null"
		}
		return config{ingest: c}
	}
	house := func(devices, rate int, origins ...string) config {
		if origins == nil {
			origins = []string{}
		}
		return config{devices: devices, homelab: homelab.Config{Rate: rate, Origins: origins}}
	}
	for _, tt := range []struct {
		args string
		env  map[string]string
		want config
		err  string
	}{
		{args: "-app tiny"},
		{args: "-app tiny", env: map[string]string{"TARE_LIMIT": "none of its business"}},
		{args: "-app ingest", want: in(ingest.Config{})},
		{args: "-app ingest -limit 100 -max-body 2MiB -token x -sink file:/a:b -rotate 64MB", want: in(ingest.Config{Limit: 100, MaxBody: 2 << 20, Token: "x", Sink: "file:/a:b", Rotate: 64e6})},
		{args: "-app ingest -fsync -limit=1", want: in(ingest.Config{Fsync: true, Limit: 1})},
		{args: "-app ingest -fsync=on", want: in(ingest.Config{Fsync: true})},
		{args: "-app ingest -fsync=off", env: map[string]string{"TARE_FSYNC": "on"}, want: in(ingest.Config{})},
		{args: "-app ingest", env: map[string]string{"TARE_FSYNC": "1", "TARE_TOKEN": "s", "TARE_MAX_BODY": "65536", "TARE_SINK": "file:x", "TARE_ROTATE": "1 GiB"}, want: in(ingest.Config{Fsync: true, Token: "s", MaxBody: 65536, Sink: "file:x", Rotate: 1 << 30})},
		{args: "-app ingest -token=", env: map[string]string{"TARE_TOKEN": "s"}, want: in(ingest.Config{})},
		{want: house(50, 500)},
		{args: "-devices 7 -rate-limit off -origins http://a,https://b:8", want: house(7, 0, "http://a", "https://b:8")},
		{args: "-rate-limit 0", env: map[string]string{"TARE_DEVICES": "3", "TARE_ORIGINS": "*", "TARE_RATE_LIMIT": "9"}, want: house(3, 0, "*")},
		{args: "-app tiny -limit 3", err: "-limit is of app ingest, and this is to serve tiny"},
		{args: "-app ingest -devices 3", err: "-devices is of app homelab, and this is to serve ingest"},
		{args: "-app ingest -limit 0", err: `-limit: "0" is not a whole number from 1`},
		{args: "-app ingest -limit ten", err: `-limit: "ten"`},
		{args: "-app ingest", env: map[string]string{"TARE_MAX_BODY": "1TB"}, err: `TARE_MAX_BODY: -max-body: "1TB" is no number of bytes`},
		{args: "-app ingest -max-body 9999999999GiB", err: `no number of bytes`},
		{args: "-app ingest -max-body -1", err: `no number of bytes`},
		{args: "-app ingest -sink kafka:x", err: `-sink: "kafka:x" is neither null nor file:PATH`},
		{args: "-app ingest -sink file:", err: `neither null`},
		{args: "-app ingest -fsync=often", err: `"often" is neither on nor off`},
		{args: "-app ingest -fsync often", err: `unexpected argument "often"`},
		{args: "-origins nowhere", err: `"nowhere" is no origin`},
		{args: "-rate-limit -1", err: `-rate-limit: "-1"`},
		{args: "-devices 0", err: `-devices: "0"`},
	} {
		got, err := services().parse(strings.Fields(tt.args), nil, func(key string) string { return tt.env[key] })
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %v: %v, want %q", tt.args, tt.env, err, tt.err)
			}
		case err != nil || !reflect.DeepEqual(got.config, tt.want):
			t.Errorf("%s %v: %+v, %v, want %+v", tt.args, tt.env, got.config, err, tt.want)
		}
	}
}

// TestHelpKeepsSecrets: the list of flags has the settings of each app and
// their defaults, and not what the environment holds.
func TestHelpKeepsSecrets(t *testing.T) {
	var help bytes.Buffer
	_, err := services().parse([]string{"-h"}, &help, func(key string) string { return map[string]string{"TARE_TOKEN": "hush"}[key] })
	text := help.String()
	if !errors.Is(err, flag.ErrHelp) || strings.Contains(text, "hush") {
		t.Errorf("%v: %s", err, text)
	}
	for _, want := range []string{"-token secret", "of ingest: records in a batch, at most (default 10)", "of homelab: number of devices in the house (default 50)", "  -fsync\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	help.Reset()
	_, _ = alone{Host{Apps: Apps{"tiny": plainTiny}}}.parse([]string{"-h"}, &help, func(string) string { return "" })
	if strings.Contains(help.String(), "-limit") {
		t.Errorf("tiny alone has settings of others: %s", help.String())
	}
}

func TestConfigured(t *testing.T) {
	for _, tt := range []struct {
		app string
		set map[string]string
		err string
	}{
		{"tiny", map[string]string{SetLog: "discard"}, ""},
		{"tiny", map[string]string{SetLimit: "10"}, `unknown setting "limit" of app "tiny"; it knows log, log_file, tls_cert, tls_key`},
		{"", map[string]string{SetLimit: "10"}, `unknown setting "limit" of app ""`},
		{AppIngest, map[string]string{SetLimit: "100", SetSink: "file:/tmp/x", SetFsync: "on", SetLog: "none"}, ""},
		{AppIngest, map[string]string{"max_body": "1"}, `tls_key, limit, max-body, token, sink, fsync, rotate`},
		{AppIngest, map[string]string{SetDevices: "1"}, `unknown setting "devices"`},
		{AppIngest, map[string]string{SetSink: "file"}, `sink: "file" is neither`},
		{AppIngest, map[string]string{SetSink: "spool:"}, `sink: "spool:" is neither`},
		{AppIngest, map[string]string{SetSpoolBytes: "1"}, `spool-bytes: "1" is no number`},
		{AppIngest, map[string]string{SetSpoolAge: "-1s"}, `spool-age: "-1s" is neither off nor a duration`},
		{AppIngest, map[string]string{SetSinkWait: "on"}, `sink-wait: "on" is neither`},
		{AppHomelab, map[string]string{SetRateLimit: "many"}, `rate-limit: "many"`},
	} {
		s, err := configured(tt.app, tt.set)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s %v: %v, want %q", tt.app, tt.set, err, tt.err)
			}
			continue
		}
		if err != nil || s.app != tt.app || s.log != tt.set[SetLog] || tt.app == AppIngest && (s.config.ingest.Limit != 100 || s.config.ingest.Sink != "file:/tmp/x" || !s.config.ingest.Fsync) {
			t.Errorf("%s %v: %+v, %v", tt.app, tt.set, s, err)
		}
	}
	quiet, _ := configured(AppHomelab, nil)
	limited, _ := configured(AppHomelab, map[string]string{SetRateLimit: "60"})
	if quiet.config.homelab.Now != nil || quiet.config.homelab.Rate != 0 || limited.config.homelab.Now == nil || limited.config.homelab.Rate != 60 {
		t.Errorf("%+v, %+v", quiet.config.homelab, limited.config.homelab)
	}
}
