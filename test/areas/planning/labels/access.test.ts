import { testAccess } from '../../../access/matrix.js'
import { access } from './labels.access.js'

testAccess([access])
