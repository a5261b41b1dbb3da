package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Setting is one setting of an app, a service to implement. In a study the value comes from the workload's set.
// Otherwise it comes from the command line or the environment.
type Setting struct {
	Name     string // flag, and key in a workload's set, e.g. max-body
	Default  string // value without a lab, unless a flag or the environment sets one
	Measured string // value in a study, unless the workload's set has one
	Help     string // one line, with the placeholder in back quotes

	Set func(value string) error // stores value in the [Config]
}

// Chosen returns a setting with the same default value in studies and without a lab.
func Chosen(name, value, help string, set func(value string) error) Setting {
	return Setting{Name: name, Default: value, Measured: value, Help: help, Set: set}
}

// Env returns the environment variable of the setting, e.g. TARE_MAX_BODY.
func (s Setting) Env() string {
	return "TARE_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Switch reports whether the setting is on or off: so is its default, and its help has no placeholder.
func (s Setting) Switch() bool {
	return (s.Default == On || s.Default == Off) && !strings.Contains(s.Help, "`")
}

func (s Setting) setValue(value string) error {
	if err := s.Set(value); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// Values of switches.
const (
	On  = "on"
	Off = "off"
)

func setDefaults(list []Setting, lab bool) error {
	for _, s := range list {
		value := s.Default
		if lab {
			value = s.Measured
		}
		if err := s.setValue(value); err != nil {
			return err
		}
	}
	return nil
}

// Text returns a function that sets target to any text.
func Text(target *string) func(string) error {
	return func(text string) error {
		*target = text
		return nil
	}
}

// Number returns a function that sets target to an integer from low to high.
func Number(target *int, low, high int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q is not an integer from %d to %d", text, low, high)
		}
		*target = n
		return nil
	}
}

// Rate returns a function that sets target to a limit of requests, from 0 to 1,000,000,000. The text Off means
// 0, no limit.
func Rate(target *int) func(string) error {
	const maxRate = 1_000_000_000
	setNumber := Number(target, 0, maxRate)
	return func(text string) error {
		if text == Off {
			text = "0"
		}
		return setNumber(text)
	}
}

// Size returns a function that sets target to a number of bytes, at least low. The text may have a unit such as
// kB or MiB.
func Size(target *int64, low int64) func(string) error {
	return func(text string) error {
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
		if err != nil || n < 0 || n > math.MaxInt64/unit || n*unit < low {
			return fmt.Errorf("%q is no number of bytes, such as 1048576 or 1MiB", text)
		}
		*target = n * unit
		return nil
	}
}

// Duration returns a function that sets target to a time limit. The text Off means 0, no limit.
func Duration(target *time.Duration) func(string) error {
	return func(text string) error {
		if *target = 0; text == Off {
			return nil
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is neither off nor a duration, such as 30s", text)
		}
		*target = d
		return nil
	}
}

// Switched returns a function that sets target to true for On and to false for Off.
func Switched(target *bool) func(string) error {
	return func(text string) error {
		switch text {
		case On, "true", "1":
			*target = true
		case Off, "false", "0":
			*target = false
		default:
			return fmt.Errorf("%q is neither on nor off", text)
		}
		return nil
	}
}

// SetToken is the name of [BearerToken].
const SetToken = "token"

// BearerToken returns the setting of a service's [Service.Token]. Its default is "".
func BearerToken(target *string) Setting {
	return Chosen(SetToken, "", "`secret` that requests must carry as Authorization: Bearer; empty: none", Text(target))
}
