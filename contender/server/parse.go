package server

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
)

// This file reads the command line of a server program that runs alone, without a lab. A program serves an
// app, such as users. It may have several variants of it, called faces in its flags: e.g. one for gRPC and one
// for Gin. It serves one of them (-variant), or several together, each at an address of its own (-face).

type commandLine struct {
	set         *flag.FlagSet
	app         string
	together    string // value of -face: the variants to serve together, see parseListenSpecs
	hosts       string
	appSettings flagSettings
}

// parseFlags reads a command line such as -app tiny -addr :8080. Environment variables are defaults. After
// help it returns [flag.ErrHelp].
func (a alone) parseFlags(args []string, help io.Writer, env func(string) string) (setup, error) {
	var known []string
	for _, app := range a.Apps {
		known = append(known, app.Name)
	}
	slices.Sort(known)
	var s setup
	c := a.defineFlags(&s, known, env)
	err := parseMaxConns(&s, env(EnvMaxConns))
	if err == nil {
		err = c.set.Parse(args)
	}
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(help, "%s is a server to be measured by tare; without tare it serves alone:\n", programName())
		c.set.SetOutput(help)
		c.set.PrintDefaults()
		return s, err
	}
	if err != nil {
		return s, fmt.Errorf("%w; -help lists the flags", err)
	}
	if c.set.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q; -help lists the flags", c.set.Arg(0))
	}
	var isKnownApp bool
	if s.app, isKnownApp = a.Apps.findApp(c.app); !isKnownApp {
		return s, fmt.Errorf("unknown app %q; known: %s", c.app, strings.Join(known, ", "))
	}
	if path, ok := strings.CutPrefix(s.log, LogFile+":"); ok {
		s.log, s.logFile = LogFile, path
	}
	servesTogether := len(a.Together) > 0 && s.variant == ""
	if err := a.checkSetup(s, servesTogether); err != nil {
		return s, err
	}
	if servesTogether {
		if s.listenAt, err = a.parseListenSpecs(c.together, s.addr); err != nil {
			return s, err
		}
	}
	if c.hosts != "" {
		s.hosts = strings.FieldsFunc(c.hosts, func(r rune) bool { return r == ',' || r == ' ' })
	}
	s.config, err = c.appSettings.newConfig(s.app, env)
	return s, err
}

func (a alone) defineFlags(s *setup, apps []string, env func(string) string) *commandLine {
	envOr := func(key, fallback string) string {
		if v := env(key); v != "" {
			return v
		}
		return fallback
	}
	first := func(names []string) string { // "" if there are none
		if len(names) == 0 {
			return ""
		}
		return names[0]
	}
	f := flag.NewFlagSet(programName(), flag.ContinueOnError)
	f.SetOutput(io.Discard)
	c := &commandLine{set: f}
	f.StringVar(&c.app, "app", envOr(EnvApp, first(apps)), "`app` to serve: "+strings.Join(apps, ", "))
	f.StringVar(&s.addr, "addr", envOr(EnvAddr, "127.0.0.1:8080"), "`host:port` to listen at; port 0: any")
	f.StringVar(&s.log, "log", envOr(EnvLog, LogNone), "access log: none, stdout, discard or file:`PATH`")
	if variants := strings.Join(a.Variants, ", "); len(a.Together) > 0 {
		f.StringVar(&s.variant, "variant", "", "the only `face` to serve, at -addr: "+variants)
		f.StringVar(&c.together, "face", envOr(EnvFace, strings.Join(a.Together, ",")), "`faces` to serve, with commas between them, each NAME=HOST:PORT, or NAME at the ports from that of -addr on: "+variants)
	} else {
		f.StringVar(&s.variant, "variant", first(a.Variants), "`variant` to be: "+variants)
	}
	f.StringVar(&s.cert, "tls-cert", envOr(EnvTLSCert, ""), "`file` of a certificate in PEM, to encrypt connections with")
	f.StringVar(&s.key, "tls-key", envOr(EnvTLSKey, ""), "`file` of its key in PEM")
	f.IntVar(&s.maxConns, "max-conns", DefaultConnections, "`connections` at most; one too many takes the place of an idle one ("+EnvMaxConns+")")
	f.StringVar(&c.hosts, "hosts", envOr(EnvHosts, ""), "`names` that requests to a loopback address may be for, with commas between them, in addition to localhost, loopback addresses and that of -addr")
	c.appSettings = a.addSettings(f, apps)
	return c
}

func (a alone) checkSetup(s setup, servesTogether bool) error {
	logs := []string{LogNone, LogStdout, LogDiscard, LogFile}
	isFileWithoutPath := s.log == LogFile && s.logFile == ""
	switch {
	case len(a.Variants) == 0 && s.variant != "":
		return fmt.Errorf("there is only one variant, not %q", s.variant)
	case len(a.Variants) > 0 && !servesTogether && !slices.Contains(a.Variants, s.variant):
		return fmt.Errorf("unknown variant %q; known: %s", s.variant, strings.Join(a.Variants, ", "))
	case !slices.Contains(logs, s.log), isFileWithoutPath:
		return fmt.Errorf("unknown log %q; known: none, stdout, discard, file:PATH", s.log)
	case s.maxConns < 1:
		return fmt.Errorf("-max-conns %d: at least 1", s.maxConns)
	case (s.cert == "") != (s.key == ""):
		return errors.New("-tls-cert and -tls-key go together")
	}
	return nil
}

// parseListenSpecs parses the variants to serve together, with or without addresses: grpc=:9090,connect,gin.
// Those without one listen at base (host:port), at its port, the next one and so on. Port 0 means any.
func (a alone) parseListenSpecs(text, base string) (specs []listenSpec, err error) {
	host, port, err := net.SplitHostPort(base)
	if err != nil {
		return nil, fmt.Errorf("-addr: %w", err)
	}
	next, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("-addr: %q is no port", port)
	}
	for part := range strings.SplitSeq(text, ",") {
		variant, addr, hasAddr := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case !slices.Contains(a.Variants, variant):
			return nil, fmt.Errorf("-face: unknown variant %q; known: %s", variant, strings.Join(a.Variants, ", "))
		case slices.ContainsFunc(specs, func(f listenSpec) bool { return f.variant == variant }):
			return nil, fmt.Errorf("-face: %s is there twice", variant)
		case !hasAddr:
			addr = net.JoinHostPort(host, strconv.FormatUint(next, 10))
			if next > 0 {
				next++
			}
		}
		specs = append(specs, listenSpec{variant, addr})
	}
	return specs, nil
}

type flagSettings map[string]*flagSetting // by name

// flagSetting is a setting of one or more apps that has a flag.
type flagSetting struct {
	Setting
	apps  []string
	value string // of the flag
	isSet bool   // the command line has the flag
}

// addSettings adds a flag for each setting of the apps.
func (a alone) addSettings(f *flag.FlagSet, apps []string) flagSettings {
	all := flagSettings{}
	for _, name := range apps {
		app, _ := a.Apps.findApp(name)
		for _, s := range app.New().Settings() {
			if c := all[s.Name]; c != nil { // another app has the same setting
				c.apps = append(c.apps, name)
				continue
			}
			c := &flagSetting{Setting: s, apps: []string{name}}
			all[s.Name] = c
			f.Var(c, s.Name, fmt.Sprintf("of %s: %s", name, s.Help))
		}
	}
	return all
}

// String returns the default, for the list of flags.
func (c *flagSetting) String() string { return c.Default }

// Set stores the flag's value.
func (c *flagSetting) Set(value string) error {
	c.value, c.isSet = value, true
	return nil
}

// IsBoolFlag makes package flag accept a switch without a value.
func (c *flagSetting) IsBoolFlag() bool { return c.Switch() }

// newConfig returns the configuration of an app. The value of a setting is that of its flag, or else of its
// environment variable, or else the default. newConfig rejects flags of another app.
func (all flagSettings) newConfig(app App, env func(string) string) (Config, error) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if c := all[name]; c.isSet && !slices.Contains(c.apps, app.Name) {
			return nil, fmt.Errorf("-%s is of app %s, and this is to serve %s", name, strings.Join(c.apps, " and "), app.Name)
		}
	}
	config := app.New()
	list := config.Settings()
	if err := setDefaults(list, false); err != nil {
		return nil, err
	}
	for _, s := range list {
		if c := all[s.Name]; c.isSet {
			if err := s.setValue(c.value); err != nil {
				return nil, fmt.Errorf("-%w", err) // -max-body: …
			}
		} else if value := env(s.Env()); value != "" {
			if err := s.setValue(value); err != nil {
				return nil, fmt.Errorf("%s: -%w", s.Env(), err) // TARE_MAX_BODY: -max-body: …
			}
		}
	}
	return config, config.Check()
}

func parseMaxConns(s *setup, text string) (err error) {
	if text != "" {
		if s.maxConns, err = strconv.Atoi(text); err != nil {
			err = fmt.Errorf("%s: %q is no number", EnvMaxConns, text)
		}
	}
	return err
}
