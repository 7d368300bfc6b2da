// Conditions of lists.

/** A text as a pattern of `like` that matches this text alone. */
export const likeText = (text: string) => text.replace(/[\\%_]/g, '\\$&')
