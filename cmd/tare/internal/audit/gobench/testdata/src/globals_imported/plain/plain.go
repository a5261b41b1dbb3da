package plain

import "globals_imported"

func init() { globals_imported.Register("plain", func(s string) string { return s }) }
