package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/apps/ingest/spool"
	"github.com/tarebench/tare/apps/users"
)

// Setting is one thing that can be chosen about an app. A program alone takes
// it as a flag or from the environment, a lab writes it into a workload's set.
type Setting struct {
	Name    string // of the flag, and key of a set, e.g. max-body
	Default string // alone
	Weighed string // under a lab
	Help    string // one line; what stands for the value is in back quotes
}

// Env is the environment variable of the setting, e.g. TARE_MAX_BODY.
func (s Setting) Env() string {
	return "TARE_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Switch reports whether the setting is either on or off, and nothing else: its
// help names no value.
func (s Setting) Switch() bool {
	return (s.Default == on || s.Default == off) && !strings.Contains(s.Help, "`")
}

const (
	on  = "on"
	off = "off"
)

// Names of settings: those of app ingest, then those of app homelab and those of
// app users, both of which have the last of the former.
const (
	SetLimit   = "limit"
	SetMaxBody = "max-body"
	SetToken   = "token"
	SetSink    = "sink"
	SetFsync   = "fsync"
	SetRotate  = "rotate"

	SetSpoolBytes = "spool-bytes"
	SetSpoolAge   = "spool-age"
	SetSinkWait   = "sink-wait"

	SetDevices   = "devices"
	SetOrigins   = "origins"
	SetRateLimit = "rate-limit"

	SetStore    = "store"
	SetUsers    = "users"
	SetValidate = "validate"
	SetFailOne  = "fail-one"
)

// Apps that have settings, and are given a service to serve.
const (
	AppIngest  = "ingest"
	AppHomelab = "homelab"
	AppUsers   = "users"
)

// Settings are what can be chosen about an app, in the order in which they are
// shown. Other apps have none.
func Settings(app string) []Setting {
	same := func(name, value, help string) Setting { return Setting{name, value, value, help} }
	switch app {
	case AppIngest:
		return []Setting{
			same(SetLimit, strconv.Itoa(ingest.DefaultLimit), "`records` in a batch, at most"),
			same(SetMaxBody, "1MiB", "`bytes` of a body at most, as sent and unpacked; also with kB, MB, KiB, MiB, …"),
			same(SetToken, "", "`secret` that requests must carry as Authorization: Bearer; empty: none"),
			same(SetSink, sinkNull, "where events go: null throws them away, file:`PATH` appends lines of JSON, spool:DIR keeps them for a reader"),
			same(SetFsync, off, "events are on stable storage before they are acknowledged"),
			same(SetRotate, "0", "`bytes` after which the file sink begins another file; 0: never"),
			same(SetSpoolBytes, "1GiB", "`bytes` of the spool on disk at most; batches are answered with 503 when it is full"),
			same(SetSpoolAge, off, "`duration` that the oldest event may wait in the spool; off: any"),
			same(SetSinkWait, off, "`duration` that an answer waits until the events are sent on; off: they are acknowledged in the spool"),
		}
	case AppHomelab:
		return []Setting{
			same(SetDevices, "50", "`number` of devices in the house"),
			same(SetOrigins, "", "`origins` that may read answers in a browser, with commas between them; *: any; empty: none"),
			{SetRateLimit, "500", off, "`requests` per minute of one client; off: no limit"},
		}
	case AppUsers:
		return []Setting{
			same(SetStore, users.MemoryStore, "`store` of users: memory, linear, sqlite:FILE or postgres:URL; the database that the URL names is kept"),
			{SetUsers, "0", "1000", "`number` of users that a new store has"},
			same(SetValidate, "1", "`times` that each user is validated"),
			same(SetFailOne, "0", "one call in so `many` fails; 0: none"),
			same(SetRateLimit, off, "`requests` per second of all clients together; off: no limit"),
		}
	}
	return nil
}

// postgresKind is the kind of stores in databases on a server.
const postgresKind = "postgres"

const (
	sinkNull  = "null"
	sinkFile  = "file:"
	sinkSpool = "spool:"
)

// config is how the service of an app is to be.
type config struct {
	ingest  ingest.Config
	homelab homelab.Config
	devices int
	users   users.Config
	store   string // of users
	seeded  int    // users in it
}

// set takes a value for the setting of that name of an app. An error is one line.
func (c *config) set(app, name, value string) (err error) {
	switch name {
	case SetLimit:
		c.ingest.Limit, err = number(value, 1, 1_000_000)
	case SetMaxBody:
		c.ingest.MaxBody, err = size(value, 1)
	case SetToken:
		c.ingest.Token = value
	case SetSink:
		path, file := strings.CutPrefix(value, sinkFile)
		dir, spool := strings.CutPrefix(value, sinkSpool)
		if value != sinkNull && (!file || path == "") && (!spool || dir == "") {
			err = fmt.Errorf("%q is neither null nor file:PATH nor spool:DIR", value)
		}
		c.ingest.Sink = value
	case SetFsync:
		c.ingest.Fsync, err = switched(value)
	case SetRotate:
		c.ingest.Rotate, err = size(value, 0)
	case SetSpoolBytes:
		c.ingest.SpoolBytes, err = size(value, spool.LeastBytes)
	case SetSpoolAge:
		c.ingest.SpoolAge, err = duration(value)
	case SetSinkWait:
		c.ingest.Wait, err = duration(value)
	case SetDevices:
		c.devices, err = number(value, 1, 100_000)
	case SetOrigins:
		c.homelab.Origins = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	case SetRateLimit:
		rate := &c.homelab.Rate
		if app == AppUsers {
			rate = &c.users.Limit
		}
		if *rate = 0; value != off {
			*rate, err = number(value, 0, 1_000_000_000)
		}
	case SetStore:
		c.store, err = value, checkStore(value)
	case SetUsers:
		c.seeded, err = number(value, 0, 10_000_000)
	case SetValidate:
		c.users.Validate, err = number(value, 1, 1000)
	case SetFailOne:
		c.users.FailOne, err = number(value, 0, 1_000_000_000)
	default:
		err = fmt.Errorf("unknown setting")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// checkStore looks at the name of a store of users; whether it can be had is found
// when it is opened.
func checkStore(name string) error {
	kind, place, more := strings.Cut(name, ":")
	switch kind {
	case users.MemoryStore, users.LinearStore:
		if !more {
			return nil
		}
	case "sqlite", postgresKind:
		if place != "" {
			return nil
		}
	}
	return fmt.Errorf("%q is neither memory, linear, sqlite:FILE nor postgres:URL", name)
}

func number(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d", text, least, most)
	}
	return n, nil
}

// size reads bytes, with or without a unit.
func size(text string, least int64) (int64, error) {
	digits, unit := text, int64(1)
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}} {
		if d, ok := strings.CutSuffix(text, u.name); ok {
			digits, unit = strings.TrimSpace(d), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit || n*unit < least {
		return 0, fmt.Errorf("%q is no number of bytes, such as 1048576 or 1MiB", text)
	}
	return n * unit, nil
}

// duration reads one, or off.
func duration(text string) (time.Duration, error) {
	if text == off {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is neither off nor a duration, such as 30s", text)
	}
	return d, nil
}

func switched(text string) (bool, error) {
	switch text {
	case on, "true", "1":
		return true, nil
	case off, "false", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither on nor off", text)
}
