// Writes all pages of a list as one JSON array, with one line for each record.
import type { IncomingMessage } from 'node:http'
import { BadParameters, Failure } from '../../errors.js'
import { writeOut } from '../framework/list-all.js'
import { exitCodeOfStatus, heldBody } from './answer.js'

/** Records on a page, unless the query sets another number. */
const PER_PAGE = '100'

interface Pages {
  readonly url: URL
  readonly ask: (url: URL) => Promise<IncomingMessage>
  readonly most: number
  /** The text before and after the array. */
  readonly frame: readonly [before: string, after: string]
}

/** Writes all pages. Returns the response of the first page when it is an error, otherwise null. Throws Failure after `most` pages. */
export async function writePages({ url, ask, most, frame: [before, after] }: Pages): Promise<IncomingMessage | null> {
  const next = new URL(url)
  if (!next.searchParams.has('per_page')) next.searchParams.set('per_page', PER_PAGE)
  let lead = `${before}[\n`
  for (let page = 1; ; page++) {
    const answer = await ask(next)
    const { statusCode = 0 } = answer
    if (exitCodeOfStatus(statusCode) !== 0) {
      if (page === 1) return answer
      answer.destroy()
      throw new Failure(`page ${page} failed with status ${statusCode}: the list is incomplete`)
    }
    const records = await heldBody(answer)
    if (!Array.isArray(records)) {
      const text = 'the response is not a list: omit --paginate'
      throw new BadParameters(text, text)
    }
    for (const record of records) {
      if (!(await writeOut(`${lead}${JSON.stringify(record)}`))) return null
      lead = ',\n'
    }
    const link = nextOf(answer)
    const goesOn = link !== undefined && records.length > 0 && link !== next.search
    if (!goesOn || page === most) {
      await writeOut(`${lead === ',\n' ? '\n' : lead}]${after}\n`)
      if (goesOn) throw new Failure(`the list has more than ${most} pages: raise --max-pages`)
      return null
    }
    next.search = link
  }
}

/** Returns the query of the next page. The link has the public URL of the appliance, which this machine may be unable to reach. */
function nextOf({ headers: { link = '' } }: IncomingMessage): string | undefined {
  const [, found] = /<([^>]*)>; rel="next"/.exec(Array.isArray(link) ? link.join(', ') : link) ?? []
  return found !== undefined && URL.canParse(found) ? new URL(found).search : undefined
}
