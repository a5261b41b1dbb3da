// Command null is a codec that does nothing. Its measured cost is that of the measurement itself. Programs
// that tare compares are called contenders.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Null()) }
