package contendertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// probe is a request whose answer is known but for its wording.
type probe struct {
	asked
	status int
	code   string            // of a refusal; empty: any
	header map[string]string // what headers must contain
	wrong  func(called) error
}

// probes is a check that asks each of list over a connection of its own, of an
// app that was configured with set. What is answered must be described.
func probes(name string, d description, set map[string]string, list []probe) check {
	return check{name, func(e exam) error {
		addr, err := e.serves(set)
		if err != nil {
			return err
		}
		var wrong []error
		for _, p := range list {
			if e.loose() {
				if p.status == 400 {
					continue
				}
				p.wrong = nil
			}
			got, err := e.askOnce(addr, p.asked)
			if err == nil && !e.Trap {
				err = p.check(d, got)
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%v: %w", p.asked, err))
			}
		}
		return errors.Join(wrong...)
	}}
}

func (p probe) check(d description, got called) error {
	if got.status != p.status {
		return fmt.Errorf("status %d, want %d: %.100q", got.status, p.status, got.body)
	}
	for name, part := range p.header {
		switch have := got.header.Get(name); {
		case have == "":
			return fmt.Errorf("status %d: header %s is not there", got.status, name)
		case !strings.Contains(have, part):
			return fmt.Errorf("status %d: header %s is %q, want %q", got.status, name, have, part)
		}
	}
	if p.status >= 400 && p.method != "HEAD" {
		if err := refusal(got, p.code); err != nil {
			return fmt.Errorf("status %d: %w", got.status, err)
		}
	}
	if p.wrong != nil {
		if err := p.wrong(got); err != nil {
			return err
		}
	}
	return d.wrong(p.asked, got)
}

// refusal: every refusal is JSON with a code and a message, be it the app's or
// the framework's own.
func refusal(got called, code string) error {
	if got.kind != "application/json" {
		return fmt.Errorf("a refusal of type %q, want application/json: %.80q", got.kind, got.body)
	}
	var r struct{ Error, Message string }
	if err := json.Unmarshal(got.body, &r); err != nil {
		return fmt.Errorf("a refusal that is no JSON: %w: %.80q", err, got.body)
	}
	if r.Error == "" || r.Message == "" || strings.ContainsAny(r.Message, "\r\n") || code != "" && r.Error != code {
		return fmt.Errorf("refused as %q, %q; want code %q and a message of one line", r.Error, r.Message, code)
	}
	return nil
}

// is wants an answer with status 200, a content type and exactly that body.
func is(kind, body string) func(called) error {
	return func(got called) error {
		if got.status != 200 || got.kind != kind || string(got.body) != body {
			return fmt.Errorf("%d %s %.100q, want 200 %s %q", got.status, got.kind, got.body, kind, body)
		}
		return nil
	}
}

// means wants an answer with status 200 and JSON that means the same as v.
func means(v any) func(called) error {
	want, err := json.Marshal(v)
	return func(got called) error {
		if err != nil {
			return err
		}
		if got.status != 200 || got.kind != "application/json" {
			return fmt.Errorf("%d %s %.100q, want 200 application/json", got.status, got.kind, got.body)
		}
		if err := sameJSON(want, got.body); err != nil {
			return fmt.Errorf("%w\n got %.300s\nwant %.300s", err, got.body, want)
		}
		return nil
	}
}
