// Package machine knows the computer that measures: what it is, what it can
// tell about its own noise, and who may measure on it now.
//
// Nothing here is needed for a measurement to work. What a machine cannot
// tell is reported as not found or not recorded, never guessed.
package machine
