package openapi

import "fmt"

// pair is a part of a path, query, header, cookie or form that a value is written as.
type pair struct {
	prefix   string // before everything, not escaped
	name     string // "" if there is none
	key      string // in brackets after the name (deepObject)
	values   []string
	between  string // between values, not escaped
	equals   bool   // between name and value; never before an empty one in style matrix
	plain    bool   // nothing is escaped: a header
	reserved bool
}

func (p pair) write(o *output) {
	o.add(p.prefix)
	add := func(s string) {
		if p.plain {
			o.add(s)
		} else {
			o.addEscaped(s, p.reserved)
		}
	}
	add(p.name)
	if p.key != "" {
		o.add("%5B")
		add(p.key)
		o.add("%5D")
	}
	if p.equals {
		o.add("=")
	}
	for i, v := range p.values {
		if i > 0 {
			o.add(p.between)
		}
		if add(v); o.isFull {
			return
		}
	}
}

// styleOf returns how a parameter of OpenAPI 3, or a field of a form, is written.
func styleOf(n *node, in string) (style string, explode, reserved bool) {
	if style = n.get("style").scalar(); style == "" {
		style = "simple"
		if in == "query" || in == "cookie" {
			style = "form"
		}
	}
	explode = style == "form" || style == "deepObject" || style == "cookie"
	if e := n.get("explode"); e != nil {
		explode = e.isTrue()
	}
	return style, explode, n.get("allowReserved").isTrue()
}

// styleOfCollection is styleOf for a parameter of OpenAPI 2.
func styleOfCollection(n *node, in string) (style string, explode bool) {
	style = "simple"
	if in == "query" || in == "formData" {
		style = "form"
	}
	switch format := n.get("collectionFormat").scalar(); format {
	case "ssv":
		return "spaceDelimited", false
	case "tsv":
		return "tabDelimited", false
	case "pipes":
		return "pipeDelimited", false
	case "multi":
		return style, true
	}
	return style, false
}

// expand returns how the value of a parameter is written.
func (p parameter) expand(v *node) ([]pair, error) {
	if p.media != "" {
		body, err := writeBody(p.media, v, p.types)
		if err != nil {
			return nil, fmt.Errorf("the example of %s: %w", p.name, err)
		}
		v = &node{kind: text, text: string(body)}
	}
	if !p.isStyled() {
		return nil, fmt.Errorf("parameter %s: style %q is not one of a %s parameter", p.name, p.style, p.in)
	}
	escaping := pair{plain: p.in == "header", reserved: p.reserved}
	names, values, err := flatten(v)
	if err != nil {
		return nil, fmt.Errorf("the example of %s: %w, for which style %s has no form", p.name, err, p.style)
	}
	switch {
	case v.kind == list && len(values) == 0, v.kind == mapping && len(values) == 0:
		return nil, emptyError(p)
	case p.style == "deepObject":
		return p.expandDeep(v, escaping, names, values)
	}
	prefix, between := "", ","
	switch p.style {
	case "label":
		prefix = "."
	case "matrix":
		prefix = ";"
	case "spaceDelimited":
		between = " "
	case "tabDelimited":
		between = "\t"
	case "pipeDelimited":
		between = "|"
	}
	if between != "," && !escaping.plain {
		between = fmt.Sprintf("%%%02X", between[0])
	}
	isNamed := p.in != "path" && p.in != "header" || p.style == "matrix"
	if !p.explode || v.kind != list && v.kind != mapping {
		one := escaping
		one.prefix, one.values, one.between = prefix, values, between
		if v.kind == mapping {
			one.values = nil
			for i, name := range names {
				one.values = append(one.values, name, values[i])
			}
		}
		if isNamed {
			one.name = p.name
			one.equals = p.style != "matrix" || len(one.values) > 1 || one.values[0] != ""
		}
		return []pair{one}, nil
	}
	var out []pair
	for i, value := range values {
		one := escaping
		one.prefix, one.values = prefix, []string{value}
		switch {
		case v.kind == mapping:
			one.name, one.equals = names[i], true
		case isNamed:
			one.name, one.equals = p.name, true
		}
		if prefix == "" && !isNamed && i > 0 {
			one.prefix = between
		}
		out = append(out, one)
	}
	return out, nil
}

// isStyled reports whether parameters of the place can have the style.
func (p parameter) isStyled() bool {
	switch p.style {
	case "simple":
		return p.in == "path" || p.in == "header"
	case "label", "matrix":
		return p.in == "path"
	case "form":
		return p.in == "query" || p.in == "cookie"
	case "cookie":
		return p.in == "cookie"
	case "deepObject":
		return p.in == "query"
	case "spaceDelimited", "tabDelimited", "pipeDelimited":
		return p.in != "cookie"
	}
	return false
}

// expandDeep writes name[key]=value.
func (p parameter) expandDeep(v *node, escaping pair, names, values []string) (out []pair, err error) {
	if v.kind != mapping {
		return nil, fmt.Errorf("the example of %s: style deepObject is for mappings", p.name)
	}
	for i, name := range names {
		one := escaping
		one.name, one.key, one.equals, one.values = p.name, name, true, values[i:i+1]
		out = append(out, one)
	}
	return out, nil
}

// emptyError returns the error for an empty list or mapping, or nil if the parameter is
// optional.
func emptyError(p parameter) error {
	if p.required {
		return fmt.Errorf("the example of %s is empty", p.name)
	}
	return nil
}

// flatten returns the texts of a scalar, of the items of a list or of the fields of a mapping
// with their names. It skips nulls.
func flatten(v *node) (names, values []string, err error) {
	if v.kind != list && v.kind != mapping {
		return nil, []string{v.text}, nil
	}
	for _, f := range v.fields {
		switch f.value.kind {
		case null:
			continue
		case list, mapping:
			return nil, nil, fmt.Errorf("it has %s within %s", f.value.kind, v.kind)
		}
		names, values = append(names, f.name), append(values, f.value.text)
	}
	return names, values, nil
}
