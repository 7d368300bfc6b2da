// Formats numbers and times for the dashboard: short, and always about equally wide.

const BARS = '▁▂▃▄▅▆▇█'

/** Formats a count: 0 to 99999 in full, then as 123k or 4.5M. */
export function count(value: number): string {
  if (value < 100_000) return String(Math.round(value))
  if (value < 999_500) return `${Math.round(value / 1000)}k`
  const millions = value / 1e6
  return millions < 99.95 ? `${millions.toFixed(1)}M` : `${Math.round(millions)}M`
}

/** Formats a rate. A small rate has one decimal. */
export function rate(value: number): string {
  return value > 0 && value < 9.95 ? value.toFixed(1) : count(value)
}

/** Formats seconds as 0s, 12s, 3m05, 2h10 or 4d. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < 60) return `${whole}s`
  const two = (value: number) => String(value).padStart(2, '0')
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}`
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h${two(Math.floor((whole % 3600) / 60))}`
  return `${Math.floor(whole / 86_400)}d`
}

/** Formats how long ago a moment was, or how far ahead it is. `time` is a string when it comes from the API. */
export function since(time: Date | string | null, now: number): string {
  if (time === null) return '-'
  const seconds = (now - new Date(time).getTime()) / 1000
  return seconds >= -0.5 ? duration(seconds) : `in ${duration(-seconds)}`
}

/** Draws the last values as bars of eight heights, with the newest at the right. An underscore stands for 0. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.slice(-Math.max(1, width))
  const most = Math.max(...shown)
  return shown
    .map(value => (value <= 0 ? '_' : (BARS[Math.min(7, Math.ceil((value / most) * 8) - 1)] ?? '_')))
    .join('')
    .padStart(width, ' ')
}

/** Formats a moment in milliseconds as text such as 2026-11-21 01:55:07Z. */
export const clock = (time: number) => `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}Z`
