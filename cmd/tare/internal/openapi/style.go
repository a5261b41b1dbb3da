package openapi

import "fmt"

// pair is a part of a path, query, header, cookie or form: a value with its name, as in ids=1,2. A value
// can become several pairs.
type pair struct {
	prefix   string // text before everything, not escaped
	name     string // "" if the style has no names
	key      string // text in brackets after the name (style deepObject), or ""
	values   []string
	between  string // separator of values, not escaped
	equals   bool   // = follows the name; style matrix has none before an empty value
	plain    bool   // nothing is escaped: a header
	reserved bool   // reserved characters are not escaped
}

// write writes the pair.
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
		add(v)
		if o.isFull {
			return
		}
	}
}

// styleOf returns how a parameter of OpenAPI 3, or a field of a form, is written: with its own settings or
// the defaults of its place in.
func styleOf(n *node, in string) (style string, explode, reserved bool, err error) {
	style = n.get("style").scalar()
	if style == "" {
		style = "simple"
		if in == "query" || in == "cookie" {
			style = "form"
		}
	}
	if explode, err = n.flag("explode", style == "form" || style == "deepObject" || style == "cookie"); err == nil {
		reserved, err = n.flag("allowReserved", false)
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

// expand returns the value v of a parameter as pairs, by its style (OpenAPI 3, Style Values). A list or a
// mapping is one pair, or one per item if the parameter explodes. It returns nil for an empty list or
// mapping of an optional parameter.
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
	case isCollection(v) && len(values) == 0:
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
	hasName := p.in != "path" && p.in != "header" || p.style == "matrix"
	if !p.explode || !isCollection(v) {
		single := escaping
		single.prefix, single.values, single.between = prefix, values, between
		if v.kind == mapping {
			single.values = nil
			for i, name := range names {
				single.values = append(single.values, name, values[i])
			}
		}
		if hasName {
			single.name = p.name
			single.equals = p.style != "matrix" || len(single.values) > 1 || single.values[0] != ""
		}
		return []pair{single}, nil
	}
	var out []pair
	for i, value := range values {
		item := escaping
		item.prefix, item.values = prefix, []string{value}
		switch {
		case v.kind == mapping:
			item.name, item.equals = names[i], true
		case hasName:
			item.name, item.equals = p.name, true
		}
		if prefix == "" && !hasName && i > 0 {
			item.prefix = between
		}
		out = append(out, item)
	}
	return out, nil
}

// isCollection reports whether v is a list or a mapping.
func isCollection(v *node) bool { return v.kind == list || v.kind == mapping }

// isStyled reports whether a parameter in its place can have its style.
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

// expandDeep returns the fields of the mapping v in style deepObject, as name[key]=value.
func (p parameter) expandDeep(v *node, escaping pair, names, values []string) (out []pair, err error) {
	if v.kind != mapping {
		return nil, fmt.Errorf("the example of %s: style deepObject is for mappings", p.name)
	}
	for i, name := range names {
		field := escaping
		field.name, field.key, field.equals, field.values = p.name, name, true, values[i:i+1]
		out = append(out, field)
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
	if !isCollection(v) {
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
