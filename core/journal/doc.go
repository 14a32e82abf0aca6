// Package journal keeps the last transitions in a ring with sequence numbers.
//
// The one writer appends; any number of readers hold a Cursor. A reader that
// falls behind the ring gets a Gap that says what it missed, and costs the
// writer and other readers nothing.
package journal
