package router

import (
	"net/url"
	"slices"
	"strings"
)

// place is a node of the tree of routes, after a common prefix.
type place struct {
	next   map[string]*place // by literal
	parts  []part            // parameters that are a part of a segment, the longest literals first
	param  *place            // for any text except ""; nil if there is no parameter here
	rest   map[string]*Route // routes whose catch-all is here, by method; it matches all texts, "" too
	routes map[string]*Route // routes that end here, by method
}

// part is the node after a parameter with literals beside it.
type part struct {
	before, after string
	*place
}

// matchPart returns the value of the parameter in text. ok is false if text does not match.
func (p part) matchPart(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, p.before)
	value, ends := strings.CutSuffix(rest, p.after)
	return value, ok && ends && value != ""
}

// partFor returns the node after a parameter that is a part of a segment.
func (p *place) partFor(s Segment) *place {
	for _, known := range p.parts {
		if known.before == s.Before && known.after == s.After {
			return known.place
		}
	}
	next := &place{}
	p.parts = append(p.parts, part{s.Before, s.After, next})
	slices.SortStableFunc(p.parts, func(a, b part) int { return len(b.before+b.after) - len(a.before+a.after) })
	return next
}

// addRoute adds a route to the tree. The first of two equal ones stays.
func (p *place) addRoute(r *Route) {
	at := p
	if p.next == nil {
		p.next = map[string]*place{} // marks the tree as built
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
		if s.Before+s.After != "" {
			at = at.partFor(s)
			continue
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

// findRoute returns the route for an escaped path, and the values of its parameters.
func (p *place) findRoute(method, path string) (*Route, []string, bool) {
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
	return p.matchTexts(method, texts, nil)
}

// matchTexts matches the remaining texts, the literal first and the catch-all last.
func (p *place) matchTexts(method string, texts, values []string) (*Route, []string, bool) {
	if len(texts) == 0 {
		r, ok := p.routes[method]
		return r, values, ok
	}
	if next := p.next[texts[0]]; next != nil {
		if r, v, ok := next.matchTexts(method, texts[1:], values); ok {
			return r, v, true
		}
	}
	for _, part := range p.parts {
		value, ok := part.matchPart(texts[0])
		if !ok {
			continue
		}
		if r, v, ok := part.matchTexts(method, texts[1:], append(values, value)); ok {
			return r, v, true
		}
	}
	if p.param != nil && texts[0] != "" {
		if r, v, ok := p.param.matchTexts(method, texts[1:], append(values, texts[0])); ok {
			return r, v, true
		}
	}
	r, ok := p.rest[method]
	return r, append(values, strings.Join(texts, "/")), ok
}
