import { testAccess } from '../../../access/matrix.js'
import { access } from './settings.access.js'

testAccess([access])
