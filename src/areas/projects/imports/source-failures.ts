// The failures of another server. Their texts have no part of an answer, because an answer may repeat the token.
import { Failure } from '../../../errors.js'
import { shownUrl } from '../../../webhooks/url.js'

/** The source does not answer as it should. The text begins with the URL. */
export class SourceFailure extends Failure {
  constructor(
    url: URL,
    readonly problem: string,
    /** The status of the answer, if there was one. */
    readonly status: number | null = null
  ) {
    super(`${shownUrl(url.href)} ${problem}`)
  }
}

/** An answer that lasts: another attempt would get the same. */
export class SourceRefusal extends SourceFailure {}
