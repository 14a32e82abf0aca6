package views

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Number writes n with a comma between thousands.
func Number[N int | uint64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes n and the noun, in the plural unless n is one.
func Count(n int, one, many string) string {
	return Number(n) + " " + Noun(n, one, many)
}

// Noun is the noun without the number.
func Noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Millis writes a duration given in milliseconds with two significant figures.
func Millis(ms float64) string {
	switch {
	case ms <= 0:
		return "0 ms"
	case ms < 0.1:
		return strconv.FormatFloat(ms*1000, 'f', 0, 64) + " µs"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
	default:
		return strconv.FormatFloat(ms/60_000, 'f', 1, 64) + " min"
	}
}

// Rate writes a rate per second.
func Rate(perSecond float64) string {
	if perSecond >= 10 || perSecond == math.Trunc(perSecond) {
		return strconv.FormatFloat(perSecond, 'f', 0, 64) + "/s"
	}
	if perSecond < 0.1 {
		return strconv.FormatFloat(perSecond*60, 'f', 0, 64) + "/min"
	}
	return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s"
}

// Age says how long before now t was.
func Age(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := max(now.Sub(t), 0)
	switch {
	case d < time.Second:
		return "just now"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min ago"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h ago"
	default:
		return strconv.Itoa(int(d.Hours()/24)) + " d ago"
	}
}

// clock is the time of day in UTC, to the millisecond.
func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// stamp is the whole time in UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func joined(parts []string) string { return strings.Join(parts, ", ") }

func itoa[N int | uint32 | uint64](n N) string { return strconv.FormatUint(uint64(n), 10) }

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func stageText(stage string) string {
	if stage == "admission" {
		return "before the shard"
	}
	return "this proxy's view"
}
