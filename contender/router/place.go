package router

import (
	"net/url"
	"strings"
)

// place is where the routes of a table go on after the same beginning.
type place struct {
	next   map[string]*place // by literal
	param  *place            // any text but an empty one; nil: no parameter stands here
	rest   map[string]*Route // by method, whose catch-all stands here: it takes all texts, and one that is empty as well
	routes map[string]*Route // that end here, by method
}

// add puts a route where it ends. Of two that are one the first stays.
func (p *place) add(r *Route) {
	at := p
	if p.next == nil {
		p.next = map[string]*place{} // it holds a table from here on
	}
	for _, s := range r.Segments {
		if s.Rest {
			if at.rest == nil {
				at.rest = map[string]*Route{}
			}
			if at.rest[r.Method] == nil {
				at.rest[r.Method] = r
			}
			return
		}
		if s.Param {
			if at.param == nil {
				at.param = &place{}
			}
			at = at.param
			continue
		}
		if at.next == nil {
			at.next = map[string]*place{}
		}
		if at.next[s.Text] == nil {
			at.next[s.Text] = &place{}
		}
		at = at.next[s.Text]
	}
	if at.routes == nil {
		at.routes = map[string]*Route{}
	}
	if at.routes[r.Method] == nil {
		at.routes[r.Method] = r
	}
}

// find returns the route for an escaped path, and the values of its parameters.
func (p *place) find(method, path string) (*Route, []string, bool) {
	if r, ok := p.routes[method]; ok && path == "/" {
		return r, nil, true
	}
	texts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, text := range texts {
		var err error
		if texts[i], err = url.PathUnescape(text); err != nil {
			return nil, nil, false
		}
	}
	return p.match(method, texts, nil)
}

// match goes on with the texts that are left, the literal first and the
// catch-all last.
func (p *place) match(method string, texts, values []string) (*Route, []string, bool) {
	if len(texts) == 0 {
		r, ok := p.routes[method]
		return r, values, ok
	}
	if next := p.next[texts[0]]; next != nil {
		if r, v, ok := next.match(method, texts[1:], values); ok {
			return r, v, true
		}
	}
	if p.param != nil && texts[0] != "" {
		if r, v, ok := p.param.match(method, texts[1:], append(values, texts[0])); ok {
			return r, v, true
		}
	}
	r, ok := p.rest[method]
	return r, append(values, strings.Join(texts, "/")), ok
}
