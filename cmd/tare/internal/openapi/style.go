package openapi

import "fmt"

// The style of a parameter defines how its value is written. For parameter ids with the list 1, 2:
//
//	simple  1,2           form            ids=1,2
//	label   .1,2          spaceDelimited  ids=1%202
//	matrix  ;ids=1,2      pipeDelimited   ids=1%7C2
//
// Style deepObject is for mappings: ids[a]=1&ids[b]=2.

// pair is a part of a path, query, header, cookie or form: values with a name, as in ids=1,2. The
// example of a parameter can become several pairs.
type pair struct {
	prefix   string // text before everything, not escaped
	name     string // "" if the style has no names
	key      string // text in brackets after the name (style deepObject), or ""
	values   []string
	between  string // separator of values, not escaped
	equals   bool   // = follows the name; style matrix has none before an empty value
	isHeader bool   // nothing is escaped
	reserved bool   // reserved characters are not escaped
}

func (p pair) write(o *output) {
	o.add(p.prefix)
	add := func(s string) {
		if p.isHeader {
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
		add(v)
		if o.isFull {
			return
		}
	}
}

// styleOf returns the style settings of a parameter or field, with the defaults of the place in.
func styleOf(n *node, in string) (style string, explode, reserved bool, err error) {
	style = n.get("style").scalar()
	if style == "" {
		style = "simple"
		if in == "query" || in == "cookie" {
			style = "form"
		}
	}
	explodesByDefault := style == "form" || style == "deepObject" || style == "cookie"
	if explode, err = n.boolField("explode", explodesByDefault); err == nil {
		reserved, err = n.boolField("allowReserved", false)
	}
	return style, explode, reserved, err
}

// styleOfCollection is styleOf for a parameter of OpenAPI 2, which has collectionFormat.
func styleOfCollection(n *node, in string) (style string, explode bool) {
	style = "simple"
	if in == "query" || in == "formData" {
		style = "form"
	}
	switch n.get("collectionFormat").scalar() {
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

// expand returns a value as pairs, by its style (OpenAPI 3, Style Values). A list or a mapping is one
// pair, or one per item if the parameter explodes: ids=1,2 or ids=1 and ids=2.
func (p parameter) expand(v *node) ([]pair, error) {
	if p.contentType != "" {
		body, err := writeBody(p.contentType, v, p.types)
		if err != nil {
			return nil, fmt.Errorf("the example of %s: %w", p.name, err)
		}
		v = &node{kind: text, text: string(body)}
	}
	if !p.isStyled() {
		return nil, fmt.Errorf("parameter %s: style %q is not one of a %s parameter", p.name, p.style, p.in)
	}
	names, values, err := flatten(v)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the example of %s: %w, for which style %s has no form", p.name, err, p.style)
	case isCollection(v) && len(values) == 0 && p.required:
		return nil, fmt.Errorf("the example of %s is empty", p.name)
	case isCollection(v) && len(values) == 0:
		return nil, nil
	case p.style == "deepObject" && v.kind != mapping:
		return nil, fmt.Errorf("the example of %s: style deepObject is for mappings", p.name)
	case p.style == "deepObject":
		return p.expandDeep(names, values), nil
	case p.explode && isCollection(v):
		return p.expandItems(v, names, values), nil
	}
	single := p.newPair()
	single.prefix, single.between = p.styleSeparators()
	single.values = values
	if v.kind == mapping {
		single.values = nil
		for i, name := range names {
			single.values = append(single.values, name, values[i])
		}
	}
	if p.hasName() {
		single.name = p.name
		isEmpty := len(single.values) == 1 && single.values[0] == ""
		single.equals = p.style != "matrix" || !isEmpty
	}
	return []pair{single}, nil
}

// newPair returns a pair with the escapes of the parameter.
func (p parameter) newPair() pair { return pair{isHeader: p.in == "header", reserved: p.reserved} }

// hasName reports whether the pairs of the parameter contain its name.
func (p parameter) hasName() bool {
	return p.in != "path" && p.in != "header" || p.style == "matrix"
}

// styleSeparators returns the text before each pair of a style, and the text between values.
func (p parameter) styleSeparators() (prefix, between string) {
	switch between = ","; p.style {
	case "label":
		return ".", between
	case "matrix":
		return ";", between
	case "spaceDelimited":
		between = " "
	case "tabDelimited":
		between = "\t"
	case "pipeDelimited":
		between = "|"
	}
	if between != "," && p.in != "header" { // a URL cannot have these characters
		between = fmt.Sprintf("%%%02X", between[0])
	}
	return "", between
}

func (p parameter) expandItems(v *node, names, values []string) (out []pair) {
	prefix, between := p.styleSeparators()
	for i, value := range values {
		item := p.newPair()
		item.prefix, item.values = prefix, []string{value}
		switch {
		case v.kind == mapping:
			item.name, item.equals = names[i], true
		case p.hasName():
			item.name, item.equals = p.name, true
		}
		if prefix == "" && !p.hasName() && i > 0 { // style simple: nothing else separates the items
			item.prefix = between
		}
		out = append(out, item)
	}
	return out
}

func isCollection(v *node) bool { return v.kind == list || v.kind == mapping }

// isStyled reports whether the place allows the style.
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

// expandDeep returns the fields of a mapping in style deepObject, as name[key]=value.
func (p parameter) expandDeep(names, values []string) (out []pair) {
	for i, name := range names {
		field := p.newPair()
		field.name, field.key, field.equals, field.values = p.name, name, true, values[i:i+1]
		out = append(out, field)
	}
	return out
}

// flatten returns the text of a scalar, or of all items or fields. Nested ones are an error.
func flatten(v *node) (names, values []string, err error) {
	if !isCollection(v) {
		return nil, []string{v.text}, nil
	}
	for _, f := range v.fields {
		switch f.value.kind {
		case null: // is not written
			continue
		case list, mapping:
			return nil, nil, fmt.Errorf("it has %s within %s", f.value.kind, v.kind)
		}
		names, values = append(names, f.name), append(values, f.value.text)
	}
	return names, values, nil
}
