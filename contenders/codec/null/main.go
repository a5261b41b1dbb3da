// Command null is the codec that does nothing. Its measured cost is the cost of the
// measurement itself.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Null()) }
