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

// Kind describes a kind of sink (a destination of events), such as kafka. Package kinds lists all, for help,
// completion, docs/services.md, validation and tests.
type Kind struct {
	Form    string   // form of its URL, which begins with the scheme, e.g. kafka://HOST:PORT/TOPIC
	Help    string   // one line; "" if help shows the kind together with another one
	Options []string // names after # in the URL, except Limits: NAME, or NAME=on for a switch
	Poison  string   // describes the events that the destination rejects permanently, for docs/services.md
	Open    func(Target, Settings) (Sink, error)
}

// Settings contains the settings of a sink that are not part of its URL.
type Settings struct {
	Token   string // bearer token for a destination whose URL has no credentials
	Fsync   bool   // sync files, unless the URL sets fsync
	Now     func() time.Time
	Timeout time.Duration // longest time of an attempt; set by Target.Open
}

// Scheme returns the scheme of the URLs of k, without the colon.
func (k Kind) Scheme() string {
	scheme, _, _ := strings.Cut(k.Form, ":")
	return scheme
}

// Has reports whether URLs of k can have an option.
func (k Kind) Has(name string) bool {
	return slices.Contains(k.Options, name) || slices.Contains(k.Options, name+"=on")
}

// isBare reports whether the URL is only the scheme, such as null.
func (k Kind) isBare() bool { return k.Form == k.Scheme() }

// Kinds lists the known sinks.
type Kinds []Kind

// Schemes returns the schemes of all kinds.
func (k Kinds) Schemes() (list []string) {
	for _, kind := range k {
		list = append(list, kind.Scheme())
	}
	return list
}

// Prefixes returns the start of each kind's URLs, for completion in a shell.
func (k Kinds) Prefixes() (list []string) {
	for _, kind := range k {
		list = append(list, strings.FieldsFunc(kind.Form, unicode.IsUpper)[0])
	}
	return list
}

// Help returns a line for each kind that has one.
func (k Kinds) Help() (lines string) {
	for _, kind := range k {
		if kind.Help != "" {
			lines += fmt.Sprintf("  %-28s %s\n", kind.Form, kind.Help)
		}
	}
	return lines
}

// findKind returns the kind of a URL by its scheme. A colon follows the scheme, unless the URL of the kind is
// only the scheme, e.g. null.
func (k Kinds) findKind(text string) (kind Kind, known bool) {
	scheme, _, hasColon := strings.Cut(text, ":")
	i := slices.IndexFunc(k, func(kind Kind) bool { return kind.Scheme() == scheme && hasColon != kind.isBare() })
	if i < 0 {
		return Kind{}, false
	}
	return k[i], true
}

// Parse parses the URL of one sink, or of several as tee:ONE,OTHER. A comma separates URLs only before a
// scheme.
func (k Kinds) Parse(text string) ([]Target, error) {
	list, isTee := strings.CutPrefix(text, "tee:")
	parts := []string{text}
	if isTee {
		parts = nil
		for _, part := range strings.Split(list, ",") {
			if _, known := k.findKind(part); len(parts) > 0 && !known { // the comma belongs to the URL before
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

// parseTarget parses the URL of one sink. Errors contain no secrets.
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
	t.URL = *u
	needsHost := strings.Contains(kind.Form, "://")
	if needsHost && u.Host == "" {
		return t, fmt.Errorf("sink %q names no host: %s://HOST…", redactURL(text), kind.Scheme())
	}
	options, err := url.ParseQuery(u.EscapedFragment())
	if err != nil {
		return t, fmt.Errorf("sink %s: what follows # is not NAME=VALUE&…", t.Name())
	}
	t.URL.Fragment, t.URL.RawFragment = "", ""
	for name, values := range options {
		last := values[len(values)-1]
		if err := t.setOption(name, last); err != nil {
			return t, fmt.Errorf("sink %s: %s: %w", t.Name(), name, err)
		}
	}
	return t, nil
}

// Target is a parsed URL of a sink. The part after # sets options, such as batch=500&age=1s.
type Target struct {
	Kind    Kind
	URL     url.URL // excludes the part after #
	Limits  Limits
	Aged    bool              // the URL sets Limits.Age
	Options map[string]string // values of the options that are not in Limits, by name
}

// OptionToken is the option that names the file of a bearer token.
const OptionToken = "token-file"

func (t *Target) setOption(name, value string) (err error) {
	switch name {
	case "batch":
		t.Limits.Events, err = parseLimit(value, 1_000_000)
	case "bytes":
		t.Limits.Bytes, err = parseLimit(value, spool.MaxBatch)
	case "age":
		t.Aged = true
		t.Limits.Age, err = time.ParseDuration(value)
		if err == nil && (t.Limits.Age < 0 || t.Limits.Age > time.Hour) {
			err = fmt.Errorf("%s is not from 0 to 1h", value)
		}
	default:
		if !t.Kind.Has(name) {
			known := strings.ReplaceAll(strings.Join(t.Kind.Options, " "), "=on", "")
			return fmt.Errorf("there is no such setting; there are batch, bytes, age %s", known)
		}
		t.Options[name] = value
	}
	return err
}

func parseLimit(value string, limit int) (n int, err error) {
	n, err = strconv.Atoi(value)
	if err == nil && (n < 1 || n > limit) {
		err = fmt.Errorf("%s is not from 1 to %d", value, limit)
	}
	return n, err
}

// Name returns the sink's name in files and logs: scheme and eight digits of a hash of the URL. User, password
// and options do not matter.
func (t Target) Name() string {
	u := t.URL
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	scheme := t.Kind.Scheme()
	const hashLen = len("-01234567")
	return fmt.Sprintf("%s-%x", strings.ReplaceAll(scheme, "+", "-"), sha256.Sum256([]byte(u.String())))[:len(scheme)+hashLen]
}

// String returns the URL without the user, the password and the query, which may be secret.
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

// Open opens the sink of t. The destination need not be reachable yet.
func (t Target) Open(s Settings) (n Named, err error) {
	for _, option := range t.Kind.Options {
		name, _, isSwitch := strings.Cut(option, "=")
		text, isSet := t.Options[name]
		if isSwitch && isSet && text != "on" && text != "off" {
			return n, fmt.Errorf("sink %s: %s %q is neither on nor off", t.Name(), name, text)
		}
	}
	if s.Timeout, err = t.parseTimeout(); err != nil {
		return n, err
	}
	needsProof := t.Options["hold"] != "off" // a rejected event is dead only if another is accepted
	n = Named{Name: t.Name(), Limits: t.Limits, Trust: !needsProof}
	n.Sink, err = t.Kind.Open(t, s)
	return n, err
}

// parseTimeout returns the limit of an attempt, by default 30 s.
func (t Target) parseTimeout() (time.Duration, error) {
	text, isSet := t.Options["timeout"]
	if !isSet {
		text = "30s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("sink %s: timeout %q is no duration, such as 30s", t.Name(), text)
	}
	return d, nil
}

// redactURL removes user and password, even from an invalid URL.
func redactURL(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		scheme, _, _ := strings.Cut(text, ":")
		return scheme + "://…" + text[at:]
	}
	return text
}
