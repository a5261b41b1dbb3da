package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// This file tests responses to unusual requests, such as an unknown path or a wrong method.

// Probe is a request with the properties that the response must have. For example, GET /nothing
// must get status 404 and a JSON body with the code not_found.
type Probe struct {
	Request
	Status        int
	Code          string               // code of an error response; "" accepts any
	Header        map[string]string    // parts that headers must contain, by name
	CheckResponse func(Response) error // further check of the response; nil without one
}

// WrongMethod returns a probe with a method that path does not support. allow lists the supported methods.
func WrongMethod(method, path, allow string) Probe {
	return Probe{Request: Request{Method: method, Path: path}, Status: 405, Header: map[string]string{"Allow": allow}}
}

// ProbeCheck returns a check that starts an app with the settings set and sends it each probe of list. Each
// probe gets a new connection. The responses must also match d, the app's OpenAPI document.
func ProbeCheck(name string, d Description, set map[string]string, list []Probe) Check {
	return Check{Name: name, Run: func(e Env) error {
		addr, err := e.StartServer(set)
		if err != nil {
			return err
		}
		var errs []error
		for _, p := range list {
			if e.IsStatusOnly() && p.Status == 400 {
				continue // a server that does only a part of the work need not reject bad input
			}
			if e.IsStatusOnly() {
				p.CheckResponse = nil
			}
			got, err := e.SendOnce(addr, p.Request)
			if err == nil && !e.WrongOnPurpose {
				err = p.checkResponse(d, got)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%v: %w", p.Request, err))
			}
		}
		return errors.Join(errs...)
	}}
}

func (p Probe) checkResponse(d Description, got Response) error {
	if got.Status != p.Status {
		return fmt.Errorf("status %d, want %d: %.100q", got.Status, p.Status, got.Body)
	}
	for name, part := range p.Header {
		switch have := got.Header.Get(name); {
		case name == "Allow" && p.Status == 405:
			if err := CheckAllow(have, part); err != nil {
				return fmt.Errorf("status %d: %w", got.Status, err)
			}
		case have == "":
			return fmt.Errorf("status %d: header %s is not there", got.Status, name)
		case !strings.Contains(have, part):
			return fmt.Errorf("status %d: header %s is %q, want %q", got.Status, name, have, part)
		}
	}
	if p.Status >= 400 && p.Method != "HEAD" {
		if err := CheckErrorBody(got, p.Code); err != nil {
			return fmt.Errorf("status %d: %w", got.Status, err)
		}
	}
	if p.CheckResponse != nil {
		if err := p.CheckResponse(got); err != nil {
			return err
		}
	}
	return d.CheckResponse(p.Request, got)
}

// CheckAllow returns an error unless have, the header Allow of a response with status 405, lists
// the methods in want. It ignores HEAD and OPTIONS, which frameworks may add.
func CheckAllow(have, want string) error {
	if have == "" {
		return errors.New("header Allow is not there")
	}
	parse := func(list string) []string {
		methods := slices.DeleteFunc(strings.Split(strings.ReplaceAll(list, " ", ""), ","), func(m string) bool { return m == "HEAD" || m == "OPTIONS" })
		slices.Sort(methods)
		return methods
	}
	if !slices.Equal(parse(have), parse(want)) {
		return fmt.Errorf("header Allow is %q, want %q", have, want)
	}
	return nil
}

// CheckErrorBody returns an error unless got, an error response, is JSON with code and a message of
// one line. If code is "", any code is accepted.
func CheckErrorBody(got Response, code string) error {
	if got.ContentType != "application/json" {
		return fmt.Errorf("a refusal of type %q, want application/json: %.80q", got.ContentType, got.Body)
	}
	var r struct{ Error, Message string }
	if err := json.Unmarshal(got.Body, &r); err != nil {
		return fmt.Errorf("a refusal that is no JSON: %w: %.80q", err, got.Body)
	}
	isOtherCode := r.Error == "" || code != "" && r.Error != code
	isOneLine := r.Message != "" && !strings.ContainsAny(r.Message, "\r\n")
	if isOtherCode || !isOneLine {
		return fmt.Errorf("refused as %q, %q; want code %q and a message of one line", r.Error, r.Message, code)
	}
	return nil
}

// HasBody returns a function for Probe.CheckResponse. The response must have status 200, content
// type kind and exactly this body.
func HasBody(kind, body string) func(Response) error {
	return func(got Response) error {
		if got.Status != 200 || got.ContentType != kind || string(got.Body) != body {
			return fmt.Errorf("%d %s %.100q, want 200 %s %q", got.Status, got.ContentType, got.Body, kind, body)
		}
		return nil
	}
}

// HasJSON returns a function for Probe.CheckResponse. The response must have status 200, and its
// JSON the same value as v.
func HasJSON(v any) func(Response) error {
	want, err := json.Marshal(v)
	return func(got Response) error {
		if err != nil {
			return err
		}
		if got.Status != 200 || got.ContentType != "application/json" {
			return fmt.Errorf("%d %s %.100q, want 200 application/json", got.Status, got.ContentType, got.Body)
		}
		if err := SameJSON(want, got.Body); err != nil {
			return fmt.Errorf("%w\n got %.300s\nwant %.300s", err, got.Body, want)
		}
		return nil
	}
}
