// Package randtest compares the generator with the C compiler. It declares random structs, C fills them,
// and generated Go code must find the values.
package randtest
