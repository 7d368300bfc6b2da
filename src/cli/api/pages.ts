// All pages of a list, as one JSON array with a line for each record.
import type { IncomingMessage } from 'node:http'
import { BadParameters, Failure } from '../../errors.js'
import { writeOut } from '../framework/list-all.js'
import { exitCodeOfStatus, heldBody } from './answer.js'

/** Records on a page, when the query says nothing else. */
const PER_PAGE = '100'

interface Pages {
  readonly url: URL
  readonly ask: (url: URL) => Promise<IncomingMessage>
  readonly most: number
  /** What comes before and after the array. */
  readonly frame: readonly [before: string, after: string]
}

/** Writes the pages until the last one. Gives the answer of the first page when it is a failure. Throws Failure after `most` pages. */
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
      throw new Failure(`page ${page} was refused with ${statusCode}: the list is not complete`)
    }
    const records = await heldBody(answer)
    if (!Array.isArray(records)) {
      const text = 'this is no list: leave --paginate out'
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
      if (goesOn) throw new Failure(`the list goes on after ${most} pages: raise --max-pages`)
      return null
    }
    next.search = link
  }
}

/** The query of the next page. Its address is the public one of the appliance, which this machine may not reach. */
function nextOf({ headers: { link = '' } }: IncomingMessage): string | undefined {
  const [, found] = /<([^>]*)>; rel="next"/.exec(Array.isArray(link) ? link.join(', ') : link) ?? []
  return found !== undefined && URL.canParse(found) ? new URL(found).search : undefined
}
