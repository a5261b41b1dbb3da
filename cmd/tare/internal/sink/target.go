package sink

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tarebench/tare/apps/ingest/spool"
)

// Kind describes one kind of sink. The package of the sink returns it, and package kinds lists it:
// help, completion, docs/services.md, validation and tests come from there.
type Kind struct {
	Form    string   // its URL, e.g. kafka://HOST:PORT/TOPIC; it starts with the scheme
	Help    string   // one line; "" if help shows the kind with another one
	Options []string // names after #, in addition to those of Limits: NAME, or NAME=on if it is on or off
	Poison  string   // for docs/services.md: which events the destination rejects for good
	Open    func(Target, Settings) (Sink, error)
}

// Settings are not part of URLs.
type Settings struct {
	Token   string // for destinations that have the option token-file and no other credentials
	Fsync   bool   // of a file, unless its URL sets it
	Now     func() time.Time
	Timeout time.Duration // of an attempt; Target.Open sets it
}

// Scheme returns the begin of the URLs of k, without the colon.
func (k Kind) Scheme() string {
	scheme, _, _ := strings.Cut(k.Form, ":")
	return scheme
}

// Has reports whether URLs of k can have an option.
func (k Kind) Has(name string) bool {
	return slices.Contains(k.Options, name) || slices.Contains(k.Options, name+"=on")
}

// isBare reports whether the scheme by itself names k.
func (k Kind) isBare() bool { return k.Form == k.Scheme() }

// Kinds lists the known sinks.
type Kinds []Kind

// Schemes returns the schemes of all kinds.
func (k Kinds) Schemes() (list []string) {
	for _, one := range k {
		list = append(list, one.Scheme())
	}
	return list
}

// Prefixes returns the begin of the URLs of each kind, as far as a shell can complete them.
func (k Kinds) Prefixes() (list []string) {
	for _, one := range k {
		list = append(list, strings.FieldsFunc(one.Form, unicode.IsUpper)[0])
	}
	return list
}

// Help returns a line for each kind that has one.
func (k Kinds) Help() (lines string) {
	for _, one := range k {
		if one.Help != "" {
			lines += fmt.Sprintf("  %-28s %s\n", one.Form, one.Help)
		}
	}
	return lines
}

// findKind returns the kind whose scheme text begins with.
func (k Kinds) findKind(text string) (Kind, bool) {
	scheme, _, colon := strings.Cut(text, ":")
	i := slices.IndexFunc(k, func(one Kind) bool { return one.Scheme() == scheme && (colon || one.isBare()) })
	if i < 0 {
		return Kind{}, false
	}
	return k[i], true
}

// Parse parses the URL of one sink, or of several as tee:ONE,OTHER. A comma within a
// URL ends it only if a sink's scheme follows.
func (k Kinds) Parse(text string) ([]Target, error) {
	list, tee := strings.CutPrefix(text, "tee:")
	parts := []string{text}
	if tee {
		parts = nil
		for _, part := range strings.Split(list, ",") {
			if _, known := k.findKind(part); len(parts) > 0 && !known {
				parts[len(parts)-1] += "," + part
				continue
			}
			parts = append(parts, part)
		}
	}
	var targets []Target
	for _, part := range parts {
		t, err := k.parseTarget(part)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(targets, func(other Target) bool { return other.Name() == t.Name() }) {
			return nil, fmt.Errorf("sink %s is named twice", t.Name())
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func (k Kinds) parseTarget(text string) (t Target, err error) {
	kind, known := k.findKind(text)
	if !known {
		scheme, _, _ := strings.Cut(text, ":")
		return t, fmt.Errorf("sink %q: %q is not among %s", redactURL(text), scheme, strings.Join(k.Schemes(), ", "))
	}
	t = Target{Kind: kind, Limits: Limits{Events: 1000, Bytes: 1 << 20, Age: 200 * time.Millisecond}, Options: map[string]string{}}
	u := &url.URL{Scheme: kind.Scheme()}
	if text != kind.Scheme() {
		u, err = url.Parse(text)
	}
	if err != nil {
		return t, fmt.Errorf("sink %q is no URL", redactURL(text))
	}
	if t.URL = *u; u.Host == "" && strings.Contains(kind.Form, "://") {
		return t, fmt.Errorf("sink %q names no host: %s://HOST…", redactURL(text), kind.Scheme())
	}
	set, err := url.ParseQuery(u.EscapedFragment())
	if err != nil {
		return t, fmt.Errorf("sink %s: what follows # is not NAME=VALUE&…", t.Name())
	}
	t.URL.Fragment, t.URL.RawFragment = "", ""
	for name, values := range set {
		if err := t.setOption(name, values[len(values)-1]); err != nil {
			return t, fmt.Errorf("sink %s: %s: %w", t.Name(), name, err)
		}
	}
	return t, nil
}

// Target is the sink of a URL. The part after # in the URL is about the sink and is not sent:
// batch=500&age=1s.
type Target struct {
	Kind    Kind
	URL     url.URL
	Limits  Limits
	Aged    bool              // the URL gives Limits.Age
	Options map[string]string // those that are not of Limits
}

// OptionToken is the option that names the file of a bearer token.
const OptionToken = "token-file"

func (t *Target) setOption(name, value string) (err error) {
	switch name {
	case "batch":
		t.Limits.Events, err = strconv.Atoi(value)
		if err == nil && (t.Limits.Events < 1 || t.Limits.Events > 1_000_000) {
			err = fmt.Errorf("%s is not from 1 to 1000000", value)
		}
	case "bytes":
		t.Limits.Bytes, err = strconv.Atoi(value)
		if err == nil && (t.Limits.Bytes < 1 || t.Limits.Bytes > spool.MaxBatch) {
			err = fmt.Errorf("%s is not from 1 to %d", value, spool.MaxBatch)
		}
	case "age":
		t.Aged = true
		t.Limits.Age, err = time.ParseDuration(value)
		if err == nil && (t.Limits.Age < 0 || t.Limits.Age > time.Hour) {
			err = fmt.Errorf("%s is not from 0 to 1h", value)
		}
	default:
		if !t.Kind.Has(name) {
			return fmt.Errorf("there is no such setting; there are batch, bytes, age %s", strings.ReplaceAll(strings.Join(t.Kind.Options, " "), "=on", ""))
		}
		t.Options[name] = value
	}
	return err
}

// Name returns the name of the sink in files and logs. Two URLs that differ only in secrets or
// settings have the same.
func (t Target) Name() string {
	u := t.URL
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	scheme := t.Kind.Scheme()
	return fmt.Sprintf("%s-%x", strings.ReplaceAll(scheme, "+", "-"), sha256.Sum256([]byte(u.String())))[:len(scheme)+9]
}

// String returns the URL without possible secrets.
func (t Target) String() string {
	u := t.URL
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	if t.Kind.isBare() {
		return t.Kind.Form
	}
	return u.String()
}

// Open opens the sink of t. Its destination may still be missing.
func (t Target) Open(s Settings) (n Named, err error) {
	for _, option := range t.Kind.Options {
		name, _, isSwitch := strings.Cut(option, "=")
		if text, set := t.Options[name]; isSwitch && set && text != "on" && text != "off" {
			return n, fmt.Errorf("sink %s: %s %q is neither on nor off", t.Name(), name, text)
		}
	}
	if s.Timeout, err = t.parseTimeout(); err != nil {
		return n, err
	}
	n = Named{Name: t.Name(), Limits: t.Limits, Trust: t.Options["hold"] == "off"}
	n.Sink, err = t.Kind.Open(t, s)
	return n, err
}

// parseTimeout returns the time limit of an attempt.
func (t Target) parseTimeout() (time.Duration, error) {
	text, set := t.Options["timeout"]
	if !set {
		text = "30s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("sink %s: timeout %q is no duration, such as 30s", t.Name(), text)
	}
	return d, nil
}

// redactURL returns a text that may be a URL, without possible secrets.
func redactURL(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		scheme, _, _ := strings.Cut(text, ":")
		return scheme + "://…" + text[at:]
	}
	return text
}
