// Shows a delivery of a hook with its attempts, as text for people.
import type { DeliveryDetails } from '../../areas/ground/hooks/deliveries.view.js'
import { type Cell, fields } from './table.js'

const LONGEST_BODY = 2000

/** Returns the lines that show a whole delivery. Long response bodies are cut. */
export function deliveryReport({ tries, payload, last_attempt: _last, ...rest }: DeliveryDetails): string {
  const parts = [fields(rest as { [name: string]: Cell }), `payload: ${JSON.stringify(payload)}`]
  for (const attempt of tries) {
    parts.push('')
    parts.push(
      fields({
        try: attempt.attempt,
        began: attempt.started_at as Date,
        took: `${attempt.duration_ms} ms`,
        status: attempt.status,
        error: attempt.error
      }),
      ...headerLines('>', attempt.request_headers),
      ...headerLines('<', attempt.response_headers),
      ...bodyLines(attempt.response_body)
    )
  }
  return parts.join('\n')
}

const bodyLines = (body: string) =>
  body === ''
    ? []
    : body
        .slice(0, LONGEST_BODY)
        .trimEnd()
        .split(/\r?\n/)
        .map(line => fields({ answer: line }))

const headerLines = (mark: string, headers: Record<string, string>) =>
  Object.entries(headers).map(([name, value]) => fields({ [`${mark} ${name}`]: value }))
