package sink

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
)

// Target is a sink as a URL names it. What follows # in the URL is about the
// sink and is not sent: batch=500&age=1s.
type Target struct {
	Kind    string // the scheme: http+ndjson, kafka …
	URL     url.URL
	Limits  Limits
	Aged    bool              // the URL gives Limits.Age
	Options map[string]string // those that are not of Limits
}

// DefaultLimits are those of a target that says nothing.
func DefaultLimits() Limits { return Limits{Events: 1000, Bytes: 1 << 20, Age: 200 * time.Millisecond} }

// Kinds are the schemes that are known.
func Kinds() []string {
	return []string{
		"null", "file",
		"http+ndjson", "http+json", "http+bulk", "http+clickhouse", "http+bigquery",
		"https+ndjson", "https+json", "https+bulk", "https+clickhouse", "https+bigquery",
		"kafka", "jetstream", "postgres",
	}
}

// options are what can stand behind # besides the limits.
func options(kind string) []string {
	_, format, web := strings.Cut(kind, "+")
	switch {
	case format == "clickhouse":
		return []string{"gzip", "timeout", "token-file", "dedup", optionHold}
	case web:
		return []string{"gzip", "timeout", "token-file", optionHold}
	case kind == "file":
		return []string{"fsync"}
	case kind == "kafka":
		return []string{"timeout", "sasl", "tls", "key", optionHold}
	case kind == "jetstream":
		return []string{"timeout", "durable", "creds", optionHold}
	case kind == "postgres":
		return []string{"timeout", "table", optionHold}
	}
	return nil
}

// ParseTargets reads one sink, or several as tee:ONE,OTHER. A comma within a
// URL is no end of it unless a sink's scheme follows.
func ParseTargets(text string) ([]Target, error) {
	list, tee := strings.CutPrefix(text, "tee:")
	parts := []string{text}
	if tee {
		parts = nil
		for _, part := range strings.Split(list, ",") {
			if n := len(parts); n > 0 && !known(part) {
				parts[n-1] += "," + part
				continue
			}
			parts = append(parts, part)
		}
	}
	var targets []Target
	for _, part := range parts {
		t, err := parseTarget(part)
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

func known(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return slices.Contains(Kinds(), scheme) && (ok || scheme == "null")
}

func parseTarget(text string) (t Target, err error) {
	if !known(text) {
		scheme, _, _ := strings.Cut(text, ":")
		return t, fmt.Errorf("sink %q: %q is not among %s", redacted(text), scheme, strings.Join(Kinds(), ", "))
	}
	t = Target{Limits: DefaultLimits(), Options: map[string]string{}}
	t.Kind, _, _ = strings.Cut(text, ":")
	u := &url.URL{Scheme: t.Kind}
	if text != "null" {
		u, err = url.Parse(text)
	}
	if err != nil {
		return t, fmt.Errorf("sink %q is no URL", redacted(text))
	}
	if t.URL = *u; u.Host == "" && t.Kind != "null" && t.Kind != "file" {
		return t, fmt.Errorf("sink %q names no host: %s://HOST…", redacted(text), t.Kind)
	}
	set, err := url.ParseQuery(u.EscapedFragment())
	if err != nil {
		return t, fmt.Errorf("sink %s: what follows # is not NAME=VALUE&…", t.Name())
	}
	t.URL.Fragment, t.URL.RawFragment = "", ""
	for name, values := range set {
		if err := t.set(name, values[len(values)-1]); err != nil {
			return t, fmt.Errorf("sink %s: %s: %w", t.Name(), name, err)
		}
	}
	return t, nil
}

func (t *Target) set(name, value string) (err error) {
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
		allowed := options(t.Kind)
		if !slices.Contains(allowed, name) {
			return fmt.Errorf("there is no such setting; there are batch, bytes, age %s", strings.Join(allowed, " "))
		}
		t.Options[name] = value
	}
	return err
}

// Name names the sink in files and logs. Two URLs with different secrets or
// settings name the same.
func (t Target) Name() string {
	u := t.URL
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return fmt.Sprintf("%s-%x", strings.ReplaceAll(t.Kind, "+", "-"), sha256.Sum256([]byte(u.String())))[:len(t.Kind)+9]
}

// String is the URL without what may be secret.
func (t Target) String() string {
	u := t.URL
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	if t.Kind == "null" {
		return t.Kind
	}
	return u.String()
}

// Timeout is how long an attempt may take.
func (t Target) Timeout() (time.Duration, error) {
	text, set := t.Options["timeout"]
	if !set {
		return 30 * time.Second, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("sink %s: timeout %q is no duration, such as 30s", t.Name(), text)
	}
	return d, nil
}

// optionHold is the setting that Trust reads.
const optionHold = "hold"

// Trust reports whether an event that the far side refuses is dead also if it takes no
// others (hold=off).
func (t Target) Trust() (bool, error) {
	hold, err := t.On(optionHold, true)
	return !hold, err
}

// On reports whether a setting is on.
func (t Target) On(name string, byDefault bool) (bool, error) {
	switch text, set := t.Options[name]; {
	case !set:
		return byDefault, nil
	case text == "on":
		return true, nil
	case text == "off":
		return false, nil
	default:
		return false, fmt.Errorf("sink %s: %s %q is neither on nor off", t.Name(), name, text)
	}
}

// redacted is a text that may be a URL without what may be a secret in it.
func redacted(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		scheme, _, _ := strings.Cut(text, ":")
		return scheme + "://…" + text[at:]
	}
	return text
}
