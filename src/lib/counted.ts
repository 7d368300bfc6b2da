/** Returns a number with its noun, such as `1 job` or `3 jobs`. */
export const counted = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`
