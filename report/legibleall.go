package report

import "reflect"

// LegibleAll returns a copy of v in which every exported text is [Legible], at any depth. Use it before printing
// foreign texts to a terminal. Keys of maps stay. v must not contain itself.
func LegibleAll[T any](v T) T {
	from := reflect.ValueOf(&v).Elem()
	to := reflect.New(from.Type()).Elem()
	copyLegible(to, from)
	return to.Interface().(T)
}

// copyLegible sets to, a zero value, to a legible copy of from. Values without texts are shared.
func copyLegible(to, from reflect.Value) {
	to.Set(from)
	if !hasText(from.Type(), nil) {
		return
	}
	switch from.Kind() {
	case reflect.String:
		to.SetString(Legible(from.String()))
	case reflect.Struct:
		for i := range from.NumField() {
			if from.Type().Field(i).IsExported() {
				copyLegible(to.Field(i), from.Field(i))
			}
		}
	case reflect.Array:
		for i := range from.Len() {
			copyLegible(to.Index(i), from.Index(i))
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				copyLegible(to.Index(i), from.Index(i))
			}
		}
	case reflect.Map:
		if !from.IsNil() {
			to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
			for _, key := range from.MapKeys() {
				value := reflect.New(from.Type().Elem()).Elem()
				copyLegible(value, from.MapIndex(key))
				to.SetMapIndex(key, value)
			}
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			copyLegible(to.Elem(), from.Elem())
		}
	}
}

// hasText reports whether a value of type t can contain an exported text. within are the types of outer calls.
func hasText(t reflect.Type, within []reflect.Type) bool {
	for _, outer := range within {
		if outer == t {
			return false // an outer call checks this type
		}
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.String:
		return true
	case reflect.Array, reflect.Slice, reflect.Map, reflect.Pointer:
		return hasText(t.Elem(), within)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && hasText(f.Type, within) {
				return true
			}
		}
	}
	return false
}
